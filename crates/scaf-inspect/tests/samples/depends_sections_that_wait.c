void begin(void);
void send(int *);
void receive(int *);
void run(int *box)
{
#pragma omp parallel
    {
        begin();
#pragma omp sections
        {
#pragma omp section
            receive(box);
#pragma omp section
            send(box);
        }
    }
}

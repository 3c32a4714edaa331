/* vid.stab: what moves from picture to picture. */
#include "numbers.h"
#include "libvidstab.h"
#include <stdlib.h>

int main(int count, char **words) {
    int width = 320, height = 240;
    VSFrameInfo info;
    vsFrameInfoInit(&info, width, height, PF_YUV420P);
    unsigned char *noise = malloc(400 * 400);
    for (int i = 0; i < 400 * 400; i++) noise[i] = (unsigned char)(128 * number() + i / 1600 % 128);
    VSMotionDetectConfig wish = vsMotionDetectGetDefaultConfig("corpus");
    wish.numThreads = count > 1 ? atoi(words[1]) : 0;
    VSMotionDetect detect;
    if (vsMotionDetectInit(&detect, &wish, &info) != VS_OK) return 1;
    for (int at = 0; at < 12; at++) {
        VSFrame frame;
        vsFrameAllocate(&frame, &info);
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++)
                frame.data[0][y * frame.linesize[0] + x] = noise[(y + at * 2 % 9) * 400 + x + at * 3 % 11];
        LocalMotions motions;
        if (vsMotionDetection(&detect, &motions, &frame) != VS_OK) return 1;
        printf("%d\n", vs_vector_size(&motions));
        for (int i = 0; i < vs_vector_size(&motions); i++) {
            LocalMotion *motion = vs_vector_get(&motions, i);
            printf("%d %d %d %d\n", motion->v.x, motion->v.y, motion->f.x, motion->f.y);
        }
        vs_vector_del(&motions);
        vsFrameFree(&frame);
    }
    vsMotionDetectionCleanup(&detect);
}

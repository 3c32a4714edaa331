#!/bin/bash
# Builds the kernels with gcc and with clang, and fails if a form of one doesn't verify with 1 to 4 threads.
# Class S, about two minutes on two cores; with --full also class W. BUILD names another build folder.
set -euo pipefail
cd "$(dirname "$0")"
BUILD=${BUILD:-../../build/kernels}
case "${1:-}" in
'') classes=S ;;
--full) classes='S W' ;;
*) echo "check.sh: $1: the only option is --full" >&2; exit 2 ;;
esac

make -s BUILD="$BUILD"
programs=$(make -s BUILD="$BUILD" programs)

# Four threads on two cores: runtimes must block in their barriers (lu spins all the same, so its S is small).
export OMP_WAIT_POLICY=passive
unset OMP_DYNAMIC OMP_THREAD_LIMIT OMP_SCHEDULE OMP_PROC_BIND OMP_PLACES

failures=0
runs=0
complain() {
    echo "FAILED: $*" >&2
    failures=$((failures + 1))
}

# expect THREADS PROGRAM OPTION...: the program verifies and saw that many threads. $value is its value then.
expect() {
    local threads=$1 program=$2 line
    shift 2
    runs=$((runs + 1))
    value=
    if ! line=$(OMP_NUM_THREADS=$threads timeout 60 "$folder/$program" "$@"); then
        complain "$folder/$program $* with $threads threads: ${line:-no result}"
    elif [[ $line != *"\"threads_seen\":$threads,"*'"verified":true'* ]]; then
        complain "$folder/$program $* with $threads threads: unexpected $line"
    else
        value=${line##*'"value":'}
    fi
}

# These add up integers, or in a fixed order: both compilers' values are the same to the last bit.
bit_identical=' is lu lu_rigid sort sparselu fib triad phases '

for class in $classes; do
    for program in $programs; do
        alone=
        for form in $("$BUILD/$program" --help | sed -n 's/^ *--form=\([^ ]*\) .*/\1/p' | tr '|' ' '); do
            # Another task, with a result of its own.
            [[ $form == read ]] && alone=
            for folder in "$BUILD" "$BUILD/clang"; do
                for threads in 1 2 3 4; do
                    # Spinners burn whole time slices: minutes in class W with more threads than processors.
                    [[ $program == lu* && $class != S && $threads -gt $(nproc) ]] && continue
                    expect "$threads" "$program" --class="$class" --form="$form"
                    [[ $bit_identical == *" $program "* ]] || continue
                    [[ -z $alone || $value == "$alone" ]] ||
                        complain "$folder/$program class $class, $form: $value isn't $alone"
                    alone=${alone:-$value}
                done
            done
        done
    done
done

for folder in "$BUILD" "$BUILD/clang"; do
    for schedule in static dynamic guided runtime; do
        for threads in 1 3; do
            expect $threads phases --schedule=$schedule --imbalance=0.7 --barriers-per-region=3 \
                --iterations=10 --repeat=2
        done
    done
    expect 2 fib --cutoff=20
    expect 2 triad --niter=7
done

# Those of oneTBB: as many threads as are there by chance, and one result.
for class in $classes; do
    for program in tbb_for tbb_nested tbb_flow; do
        for form in $("$BUILD/$program" --help | sed -n 's/^ *--form=\([^ ]*\) .*/\1/p' | tr '|' ' '); do
            for threads in 1 2; do
                runs=$((runs + 1))
                export OMP_NUM_THREADS=$threads
                line=$(timeout 60 "$BUILD/$program" --class="$class" --form="$form") || true
                [[ $line == *'"verified":true'* ]] ||
                    complain "$program $class $form with $threads threads: ${line:-no result}"
            done
        done
    done
done

# scaf only resizes programs that neither ask for nor set the size of their team, as all but lu_rigid.
# (gcc's static loops import omp_get_num_threads and omp_get_thread_num on their own, and common.c asks for
# omp_get_max_threads, outside of regions.)
for program in $programs; do
    if [[ $program != lu_rigid ]] &&
        nm -D -u "$BUILD/$program" | grep -E 'omp_set_|omp_get_(num_procs|dynamic)'; then
        complain "$program asks for or sets the size of its team"
    fi
    if readelf -lW "$BUILD/$program" | grep -q '^ *TLS '; then
        complain "$program has thread-local variables"
    fi
    for wrong in --class=B --form=none --repeat=0 --repeat=1.5 --repeat=x --nothing; do
        status=0
        "$BUILD/$program" "$wrong" > /dev/null 2>&1 || status=$?
        [[ $status == 2 ]] || complain "$program $wrong: exit status $status, not 2"
    done
done

if [[ $failures -gt 0 ]]; then
    echo "$failures failures in $runs runs" >&2
    exit 1
fi
echo "all $runs runs verified"

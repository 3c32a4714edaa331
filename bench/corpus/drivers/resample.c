/* soxr: sound of several channels at another rate. */
#include "numbers.h"
#include <soxr.h>
#include <stdlib.h>

int main(void) {
    enum { channels = 4, frames = 1000000 };
    static float in[channels][frames], out[channels][2 * frames];
    for (int c = 0; c < channels; c++)
        for (int i = 0; i < frames; i++) in[c][i] = (float)number();
    soxr_io_spec_t io = soxr_io_spec(SOXR_FLOAT32_S, SOXR_FLOAT32_S);
    soxr_quality_spec_t quality = soxr_quality_spec(SOXR_HQ, 0);
    soxr_runtime_spec_t runtime = soxr_runtime_spec(0);
    soxr_t resampler = soxr_create(44100, 48000, channels, NULL, &io, &quality, &runtime);
    for (int at = 0; at + 1000 <= frames; at += 1000) {
        const float *from[channels];
        float *to[channels];
        for (int c = 0; c < channels; c++) from[c] = in[c] + at, to[c] = out[c];
        size_t used, made;
        if (soxr_process(resampler, from, 1000, &used, to, 2 * frames, &made)) return 1;
        printf("%zu %zu\n", used, made);
        for (int c = 0; c < channels; c++) same(out[c], made * sizeof(float));
    }
    soxr_delete(resampler);
}

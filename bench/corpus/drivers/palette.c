/* libimagequant: reduces a picture to a palette. */
#include "numbers.h"
#include <libimagequant.h>
#include <stdlib.h>

int main(void) {
    int width = 320, height = 240;
    size_t pixels = (size_t)(width * height);
    unsigned char *picture = malloc(4 * pixels), *small = malloc(pixels);
    for (size_t i = 0; i < pixels; i++) {
        picture[4 * i] = (unsigned char)(i % 320 * 255 / 320);
        picture[4 * i + 1] = (unsigned char)(i / 320);
        picture[4 * i + 2] = (unsigned char)(64 * number());
        picture[4 * i + 3] = 255;
    }
    for (int round = 0; round < 3; round++) {
        liq_attr *attributes = liq_attr_create();
        liq_set_max_colors(attributes, 64 + 64 * round);
        liq_image *image = liq_image_create_rgba(attributes, picture, width, height, 0);
        liq_result *result;
        if (liq_image_quantize(image, attributes, &result) != LIQ_OK) return 1;
        liq_write_remapped_image(result, image, small, pixels);
        const liq_palette *palette = liq_get_palette(result);
        same(palette->entries, palette->count * sizeof palette->entries[0]);
        same(small, pixels);
        liq_result_destroy(result);
        liq_image_destroy(image);
        liq_attr_destroy(attributes);
    }
}

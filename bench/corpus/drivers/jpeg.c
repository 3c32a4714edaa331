/* Makes a JPEG picture of the pixmap on standard input: an input for programs that read nothing else. */
#include <stdio.h>
#include <stdlib.h>
#include <jpeglib.h>

int main(void) {
    int width, height;
    if (scanf("P6 %d %d 255", &width, &height) != 2) return 1;
    getchar();
    unsigned char *row = malloc((size_t)(3 * width));
    struct jpeg_error_mgr errors;
    struct jpeg_compress_struct picture;
    picture.err = jpeg_std_error(&errors);
    jpeg_create_compress(&picture);
    jpeg_stdio_dest(&picture, stdout);
    picture.image_width = (JDIMENSION)width;
    picture.image_height = (JDIMENSION)height;
    picture.input_components = 3;
    picture.in_color_space = JCS_RGB;
    jpeg_set_defaults(&picture);
    jpeg_set_quality(&picture, 40, TRUE);
    jpeg_start_compress(&picture, TRUE);
    while (picture.next_scanline < picture.image_height) {
        if (fread(row, 3, (size_t)width, stdin) != (size_t)width) return 1;
        jpeg_write_scanlines(&picture, &row, 1);
    }
    jpeg_finish_compress(&picture);
}

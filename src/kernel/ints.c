/* ints.c: whole numbers into panels, for any number of lanes.
 * SPDX-License-Identifier: MIT
 */
#include "kernel/ints.h"

/* The four q of column j from row l on, 0 where there is no such column. */
static uint32_t four_of(const heed_int_columns *b, int64_t j, int64_t l) {
    uint32_t four = 0;
    if (j < b->columns) {
        memcpy(&four, b->q + j * heed_int_depth(b->k) + l, sizeof four);
    }
    return four;
}

/* Rows [from, to) of a block that begins at `at`, whose first row is `first`. */
static void put_steps(const heed_int_form *f, const heed_int_columns *b, int64_t first,
                      int64_t from, int64_t to, int64_t columns, uint8_t *at) {
    int64_t rows = f->bits == 4 ? 2 * HEED_INT_ROWS : HEED_INT_ROWS;
    at += (from - first) * columns * f->bits / 8;
    for (int64_t l = from; l < to; l += rows) {
        for (int64_t j = 0; j < columns; j++, at += sizeof(uint32_t)) {
            uint32_t four = four_of(b, j, l);
            if (f->bits == 4) {
                four |= four_of(b, j, l + HEED_INT_ROWS) << 4;
            }
            memcpy(at, &four, sizeof four);
        }
    }
}

static uint8_t *put_scales(const heed_int_form *f, const float *x, int64_t blocks, int64_t there,
                           int64_t columns, uint8_t *at) {
    for (int64_t j = 0; j < columns; j++) {
        float scale = j < there ? x[j * blocks] : 0;
        uint16_t half = f->half ? heed_f16_from_f32(scale) : 0;
        memcpy(at, f->half ? (void *)&half : (void *)&scale, f->half ? sizeof half : sizeof scale);
        at += f->half ? sizeof half : sizeof scale;
    }
    return at;
}

void heed_pack_int_panel(const heed_int_form *f, const heed_int_columns *b, int64_t lanes,
                         int64_t done, uint8_t *panel) {
    int64_t block = heed_int_block_of(f, b->k), blocks = heed_int_blocks(f, b->k);
    for (int64_t i = 0; i < blocks; i++) {
        int64_t first = i * block, end = first + block, from = done > first ? done : first;
        if (from < end) {
            put_steps(f, b, first, from, end, 2 * lanes, panel);
        }
        panel += block * 2 * lanes * f->bits / 8;
        panel = put_scales(f, b->scale + i, blocks, b->columns, 2 * lanes, panel);
        if (f->least) {
            panel = put_scales(f, b->least + i, blocks, b->columns, 2 * lanes, panel);
        }
    }
}

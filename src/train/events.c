/* events.c: TensorBoard's event records. Formats: events.h.
 * SPDX-License-Identifier: MIT
 */
#include "train/events.h"

#include <string.h>

enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };
enum { EVENT_WALL_TIME = 1, EVENT_STEP = 2, EVENT_FILE_VERSION = 3, EVENT_SUMMARY = 5 };
enum { SUMMARY_VALUE = 1, VALUE_TAG = 1, VALUE_SIMPLE = 2 };

/* Bit by bit: records are short, and a table would cost more to read than it saves. */
uint32_t heed_crc32c(const void *data, size_t n) {
    const unsigned char *byte = data;
    uint32_t crc = 0xffffffffu;
    for (size_t i = 0; i < n; i++) {
        crc ^= byte[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = (crc >> 1) ^ (0x82f63b78u & (0u - (crc & 1u)));
        }
    }
    return ~crc;
}

/* TensorFlow masks checksums, since a checksum of data that holds checksums is weak. */
static uint32_t masked(const void *data, size_t n) {
    uint32_t crc = heed_crc32c(data, n);
    return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

static void add_fixed(heed_buf *out, uint64_t value, size_t bytes) {
    unsigned char le[8];
    for (size_t i = 0; i < bytes; i++) {
        le[i] = (unsigned char)(value >> (8 * i));
    }
    heed_buf_add(out, le, bytes);
}

static void add_varint(heed_buf *out, uint64_t value) {
    do {
        unsigned char byte = (unsigned char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        heed_buf_add(out, &byte, 1);
        value >>= 7;
    } while (value > 0);
}

static void add_key(heed_buf *out, int field, int wire) {
    add_varint(out, (uint64_t)(field << 3 | wire));
}

static void add_bytes(heed_buf *out, int field, const void *data, size_t n) {
    add_key(out, field, WIRE_BYTES);
    add_varint(out, n);
    heed_buf_add(out, data, n);
}

static void add_time(heed_buf *out, double seconds) {
    uint64_t bits;
    memcpy(&bits, &seconds, sizeof bits);
    add_key(out, EVENT_WALL_TIME, WIRE_64);
    add_fixed(out, bits, 8);
}

/* Frames the message as a record; takes the message's memory. */
static bool add_record(heed_buf *out, heed_buf *event) {
    if (event->failed) {
        out->failed = true;
    } else {
        unsigned char length[8];
        for (size_t i = 0; i < 8; i++) {
            length[i] = (unsigned char)((uint64_t)event->n >> (8 * i));
        }
        heed_buf_add(out, length, 8);
        add_fixed(out, masked(length, 8), 4);
        heed_buf_add(out, event->data, event->n);
        add_fixed(out, masked(event->data, event->n), 4);
    }
    heed_buf_free(event);
    return !out->failed;
}

bool heed_event_open(heed_buf *out, double seconds) {
    static const char version[] = "brain.Event:2";
    heed_buf event = {.host = out->host};
    add_time(&event, seconds);
    add_bytes(&event, EVENT_FILE_VERSION, version, sizeof version - 1);
    return add_record(out, &event);
}

bool heed_event_scalar(heed_buf *out, double seconds, int64_t step, const char *tag, float value) {
    heed_buf number = {.host = out->host}, summary = {.host = out->host};
    heed_buf event = {.host = out->host};
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    add_bytes(&number, VALUE_TAG, tag, strlen(tag));
    add_key(&number, VALUE_SIMPLE, WIRE_32);
    add_fixed(&number, bits, 4);
    add_bytes(&summary, SUMMARY_VALUE, number.data, number.n);
    add_time(&event, seconds);
    add_key(&event, EVENT_STEP, WIRE_VARINT);
    add_varint(&event, (uint64_t)step);
    add_bytes(&event, EVENT_SUMMARY, summary.data, summary.n);
    event.failed = event.failed || number.failed || summary.failed;
    heed_buf_free(&number);
    heed_buf_free(&summary);
    return add_record(out, &event);
}

// SPDX-License-Identifier: MIT
//
// The functions of the system's zlib that Curlew uses. This header does not include that of zlib, whose calls are
// partly macros and whose module has another name on each system.

#ifndef CURLEW_CZLIB_H
#define CURLEW_CZLIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A compressor or a decompressor of raw deflate (RFC 1951). One thread at a time may use it.
typedef struct curlew_zlib curlew_zlib;

/// Creates a compressor or a decompressor with a window of 8 to 15 bits. With 8 bits, a compressor finds no
/// repetitions. Returns NULL if memory is exhausted.
curlew_zlib *curlew_zlib_create(bool deflates, int bits);

/// Converts bytes from `input` into `output`, at most UINT_MAX of each, and sets `taken` and `written` to their
/// numbers. Returns 1 if a compressor has taken `input` and written all that follows from it, or if a decompressor is
/// at the end of the stream; 0 if another call may continue; -1 if the input is not valid or zlib failed.
int curlew_zlib_run(
    curlew_zlib *zlib, const uint8_t *input, size_t length, size_t *taken, uint8_t *output, size_t room,
    size_t *written);

/// Returns whether the last bytes that `curlew_zlib_run` processed ended a block, at the end of a byte.
bool curlew_zlib_is_between_blocks(const curlew_zlib *zlib);

/// Begins a new stream: forgets the window.
void curlew_zlib_reset(curlew_zlib *zlib);

/// Releases a compressor or decompressor, which must not be NULL.
void curlew_zlib_free(curlew_zlib *zlib);

#endif

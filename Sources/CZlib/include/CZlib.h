// SPDX-License-Identifier: MIT
//
// The functions of the system's zlib that Curlew uses. This header does not include that of zlib, whose calls are
// partly macros and whose module has another name on each system.

#ifndef CURLEW_CZLIB_H
#define CURLEW_CZLIB_H

#include <stddef.h>
#include <stdint.h>

/// A compressor of raw deflate (RFC 1951). One thread at a time may use it.
typedef struct curlew_deflate curlew_deflate;

/// Creates a compressor with a level from 1 (fast) to 9 (small) and a window of 8 to 15 bits. With 8 bits, it finds no
/// repetitions. Returns NULL if memory is exhausted.
curlew_deflate *curlew_deflate_create(int level, int bits);

/// Compresses bytes from `input` into `output`, and sets `taken` and `written` to how many. At most UINT_MAX bytes of
/// each count. Returns 1 if `input` has been taken and all due output written, 0 if there is more to write, and -1 if
/// zlib failed.
int curlew_deflate_run(
    curlew_deflate *deflater, const uint8_t *input, size_t length, size_t *taken, uint8_t *output, size_t room,
    size_t *written);

/// Releases a compressor, which may be NULL.
void curlew_deflate_free(curlew_deflate *deflater);

/// Forgets the window of a compressor.
void curlew_deflate_reset(curlew_deflate *deflater);

/// A decompressor of raw deflate. One thread at a time may use it.
typedef struct curlew_inflate curlew_inflate;

/// Creates a decompressor with a window of 8 to 15 bits. Returns NULL if memory is exhausted.
curlew_inflate *curlew_inflate_create(int bits);

/// Decompresses bytes from `input` into `output`, and sets `taken` and `written` to how many. Returns 1 at the end of
/// the stream, 0 if there may be more, and -1 if the input is not valid.
int curlew_inflate_run(
    curlew_inflate *inflate, const uint8_t *input, size_t length, size_t *taken, uint8_t *output, size_t room,
    size_t *written);

/// Returns 1 if the last call of `curlew_inflate_run` ended after a block, at the end of a byte, otherwise 0.
int curlew_inflate_is_between_blocks(const curlew_inflate *inflate);

/// Forgets the window of a decompressor.
void curlew_inflate_reset(curlew_inflate *inflate);

/// Releases a decompressor, which may be NULL.
void curlew_inflate_free(curlew_inflate *inflate);

#endif

// SPDX-License-Identifier: MIT

/// Distinguishes threads. The main actor always runs on the same one.
func currentThread() -> UInt {
    #if canImport(Glibc)
    UInt(pthread_self())
    #else
    UInt(bitPattern: pthread_self())
    #endif
}

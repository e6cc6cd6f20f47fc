// SPDX-License-Identifier: MIT

import CurlewCLI

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The command `curlew`.
@main
enum Main {
    static func main() async {
        exit(await CommandLineTool.run(Array(CommandLine.arguments.dropFirst())))
    }
}

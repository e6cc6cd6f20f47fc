// SPDX-License-Identifier: MIT

/// The command `curlew` as a function.
public enum CommandLineTool {
    /// Runs the command and returns its exit code.
    public static func run(_ arguments: [String]) async -> Int32 {
        2
    }
}

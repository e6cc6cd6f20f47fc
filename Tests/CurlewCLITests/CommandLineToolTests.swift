// SPDX-License-Identifier: MIT

import CurlewCLI
import Testing

@Suite(.timeLimit(.minutes(1)))
struct CommandLineToolTests {
    @Test func withoutArgumentsTheCommandFails() async {
        #expect(await CommandLineTool.run([]) == 2)
    }
}

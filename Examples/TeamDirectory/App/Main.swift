// SPDX-License-Identifier: MIT

import TeamDirectoryModel

@main
struct Main {
    static func main() async {}
}

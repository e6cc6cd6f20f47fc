// SPDX-License-Identifier: MIT

import TopQuestionsModel

@main
struct Main {
    static func main() async {}
}

// SPDX-License-Identifier: MIT

import FilmClubModel

@main
struct Main {
    static func main() async {}
}

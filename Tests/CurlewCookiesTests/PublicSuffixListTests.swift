// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCookies
@testable import CurlewCore

@Suite(.timeLimit(.minutes(1)))
struct PublicSuffixListTests {
    @Test(
        "Rules, wildcards and exceptions apply, in ASCII and beyond; an unlisted label is public",
        arguments: [
            ("com", true), ("a.com", false), ("b.a.com", false), ("co.uk", true), ("a.co.uk", false), ("uk", true),
            ("a.uk", false), ("kawasaki.jp", true), ("x.kawasaki.jp", true), ("y.x.kawasaki.jp", false),
            ("city.kawasaki.jp", false), ("a.city.kawasaki.jp", false), ("ck", true), ("x.ck", true), ("www.ck", false),
            ("xn--55qx5d.cn", true), ("a.xn--55qx5d.cn", false), ("github.io", true), ("a.github.io", false),
            ("unlisted", true), ("a.unlisted", false), ("", false),
        ])
    func rules(domain: String, isPublic: Bool) {
        #expect(CookieFixtures.suffixes.isPublic(domain) == isPublic)
    }

    @Test(
        "The site of a host is the label above its public suffix",
        arguments: [
            ("www.a.com", "a.com"), ("a.com", "a.com"), ("com", "com"), ("x.y.co.uk", "y.co.uk"), ("co.uk", "co.uk"),
            ("z.y.x.kawasaki.jp", "y.x.kawasaki.jp"), ("a.city.kawasaki.jp", "city.kawasaki.jp"),
            ("127.0.0.1", "127.0.0.1"),
            ("[::1]", "[::1]"), ("localhost", "localhost"), ("www.a.com.", "a.com"),
        ])
    func sites(host: String, site: String) {
        #expect(CookieFixtures.suffixes.site(of: host) == site)
    }

    @Test("A list without a rule is the one that ships with the package, never a guess")
    func empty() {
        for text in ["", "// nothing\n\n"] {
            let list = CookieStore.PublicSuffixList(parsing: text)
            #expect(list.isPublic("github.io") && !list.isPublic("t.co"))
        }
    }

    @Test("The system's list, or else the package's, contains the well-known suffixes")
    func system() {
        for name in ["com", "co.uk", "github.io", "xn--55qx5d.cn", "kobe.jp", "x.kobe.jp"] {
            #expect(CookieStore.PublicSuffixList.system.isPublic(name), "\(name)")
        }
        #expect(!CookieStore.PublicSuffixList.system.isPublic("city.kobe.jp"))
        #expect(CookieStore.PublicSuffixList.system.site(of: "www.bbc.co.uk") == "bbc.co.uk")
    }
}

// SPDX-License-Identifier: MIT

import CurlewHTTP
import Testing

/// Every example of RFC 6570: the levels of §1.2, the modifiers of §2.4 and the sections 3.2.1 to 3.2.9.
@Suite(.timeLimit(.minutes(1)))
struct URITemplateRFCTests {
    /// The variables of §3.2.
    static let variables: [String: URITemplate.Value] = [
        "count": ["one", "two", "three"], "dom": ["example", "com"], "dub": "me/too", "hello": "Hello World!",
        "half": "50%", "var": "value", "who": "fred", "base": "http://example.com/home/", "path": "/foo/bar",
        "list": ["red", "green", "blue"], "keys": ["semi": ";", "dot": ".", "comma": ","], "v": "6", "x": "1024",
        "y": "768", "empty": "", "empty_keys": [:],
        // §2.4.1 and §2.4.2.
        "semi": ";", "address": ["city": "Newport Beach", "state": "CA"], "year": ["1965", "2000", "2012"],
    ]

    private func check(_ examples: KeyValuePairs<String, String>) throws {
        for (template, expected) in examples {
            #expect(try URITemplate(template).expand(Self.variables) == expected, "\(template)")
        }
    }

    @Test("the levels 1 to 3 of section 1.2")
    func levels() throws {
        try check([
            "{var}": "value", "{hello}": "Hello%20World%21", "{+var}": "value", "{+hello}": "Hello%20World!",
            "{+path}/here": "/foo/bar/here", "here?ref={+path}": "here?ref=/foo/bar", "X{#var}": "X#value",
            "X{#hello}": "X#Hello%20World!", "map?{x,y}": "map?1024,768", "{x,hello,y}": "1024,Hello%20World%21,768",
            "{+x,hello,y}": "1024,Hello%20World!,768", "{+path,x}/here": "/foo/bar,1024/here",
            "{#x,hello,y}": "#1024,Hello%20World!,768", "{#path,x}/here": "#/foo/bar,1024/here",
            "X{.var}": "X.value", "X{.x,y}": "X.1024.768", "{/var}": "/value", "{/var,x}/here": "/value/1024/here",
            "{;x,y}": ";x=1024;y=768", "{;x,y,empty}": ";x=1024;y=768;empty", "{?x,y}": "?x=1024&y=768",
            "{?x,y,empty}": "?x=1024&y=768&empty=", "?fixed=yes{&x}": "?fixed=yes&x=1024",
            "{&x,y,empty}": "&x=1024&y=768&empty=",
        ])
    }

    @Test("level 4 of section 1.2, and the modifiers of section 2.4")
    func level4() throws {
        try check([
            "{var:3}": "val", "{var:30}": "value", "{list}": "red,green,blue", "{list*}": "red,green,blue",
            "{keys}": "semi,%3B,dot,.,comma,%2C", "{keys*}": "semi=%3B,dot=.,comma=%2C",
            "{+path:6}/here": "/foo/b/here", "{+list}": "red,green,blue", "{+list*}": "red,green,blue",
            "{+keys}": "semi,;,dot,.,comma,,", "{+keys*}": "semi=;,dot=.,comma=,", "{#path:6}/here": "#/foo/b/here",
            "{#list}": "#red,green,blue", "{#list*}": "#red,green,blue", "{#keys}": "#semi,;,dot,.,comma,,",
            "{#keys*}": "#semi=;,dot=.,comma=,", "X{.var:3}": "X.val", "X{.list}": "X.red,green,blue",
            "X{.list*}": "X.red.green.blue", "X{.keys}": "X.semi,%3B,dot,.,comma,%2C",
            "X{.keys*}": "X.semi=%3B.dot=..comma=%2C", "{/var:1,var}": "/v/value", "{/list}": "/red,green,blue",
            "{/list*}": "/red/green/blue", "{/list*,path:4}": "/red/green/blue/%2Ffoo",
            "{/keys}": "/semi,%3B,dot,.,comma,%2C", "{/keys*}": "/semi=%3B/dot=./comma=%2C",
            "{;hello:5}": ";hello=Hello", "{;list}": ";list=red,green,blue",
            "{;list*}": ";list=red;list=green;list=blue", "{;keys}": ";keys=semi,%3B,dot,.,comma,%2C",
            "{;keys*}": ";semi=%3B;dot=.;comma=%2C", "{?var:3}": "?var=val", "{?list}": "?list=red,green,blue",
            "{?list*}": "?list=red&list=green&list=blue", "{?keys}": "?keys=semi,%3B,dot,.,comma,%2C",
            "{?keys*}": "?semi=%3B&dot=.&comma=%2C", "{&var:3}": "&var=val", "{&list}": "&list=red,green,blue",
            "{&list*}": "&list=red&list=green&list=blue", "{&keys}": "&keys=semi,%3B,dot,.,comma,%2C",
            "{&keys*}": "&semi=%3B&dot=.&comma=%2C", "{var}": "value", "{var:20}": "value", "{semi}": "%3B",
            "{semi:2}": "%3B", "/mapper{?address*}": "/mapper?city=Newport%20Beach&state=CA",
            "find{?year*}": "find?year=1965&year=2000&year=2012", "www{.dom*}": "www.example.com",
        ])
    }

    @Test("sections 3.2.1 to 3.2.4")
    func simpleReservedFragment() throws {
        try check([
            "{count}": "one,two,three", "{count*}": "one,two,three", "{/count}": "/one,two,three",
            "{/count*}": "/one/two/three", "{;count}": ";count=one,two,three",
            "{;count*}": ";count=one;count=two;count=three", "{?count}": "?count=one,two,three",
            "{?count*}": "?count=one&count=two&count=three", "{&count*}": "&count=one&count=two&count=three",
        ])
        try check([
            "{var}": "value", "{hello}": "Hello%20World%21", "{half}": "50%25", "O{empty}X": "OX", "O{undef}X": "OX",
            "{x,y}": "1024,768", "{x,hello,y}": "1024,Hello%20World%21,768", "?{x,empty}": "?1024,",
            "?{x,undef}": "?1024", "?{undef,y}": "?768", "{var:3}": "val", "{var:30}": "value",
            "{list}": "red,green,blue", "{list*}": "red,green,blue", "{keys}": "semi,%3B,dot,.,comma,%2C",
            "{keys*}": "semi=%3B,dot=.,comma=%2C",
        ])
        try check([
            "{+var}": "value", "{+hello}": "Hello%20World!", "{+half}": "50%25",
            "{base}index": "http%3A%2F%2Fexample.com%2Fhome%2Findex", "{+base}index": "http://example.com/home/index",
            "O{+empty}X": "OX", "O{+undef}X": "OX", "{+path}/here": "/foo/bar/here",
            "here?ref={+path}": "here?ref=/foo/bar",
            "up{+path}{var}/here": "up/foo/barvalue/here", "{+x,hello,y}": "1024,Hello%20World!,768",
            "{+path,x}/here": "/foo/bar,1024/here", "{+path:6}/here": "/foo/b/here", "{+list}": "red,green,blue",
            "{+list*}": "red,green,blue", "{+keys}": "semi,;,dot,.,comma,,", "{+keys*}": "semi=;,dot=.,comma=,",
        ])
        try check([
            "{#var}": "#value", "{#hello}": "#Hello%20World!", "{#half}": "#50%25", "foo{#empty}": "foo#",
            "foo{#undef}": "foo", "{#x,hello,y}": "#1024,Hello%20World!,768", "{#path,x}/here": "#/foo/bar,1024/here",
            "{#path:6}/here": "#/foo/b/here", "{#list}": "#red,green,blue", "{#list*}": "#red,green,blue",
            "{#keys}": "#semi,;,dot,.,comma,,", "{#keys*}": "#semi=;,dot=.,comma=,",
        ])
    }

    @Test("sections 3.2.5 to 3.2.9")
    func labelsToQueries() throws {
        try check([
            "{.who}": ".fred", "{.who,who}": ".fred.fred", "{.half,who}": ".50%25.fred",
            "www{.dom*}": "www.example.com",
            "X{.var}": "X.value", "X{.empty}": "X.", "X{.undef}": "X", "X{.var:3}": "X.val",
            "X{.list}": "X.red,green,blue", "X{.list*}": "X.red.green.blue", "X{.keys}": "X.semi,%3B,dot,.,comma,%2C",
            "X{.keys*}": "X.semi=%3B.dot=..comma=%2C", "X{.empty_keys}": "X", "X{.empty_keys*}": "X",
        ])
        try check([
            "{/who}": "/fred", "{/who,who}": "/fred/fred", "{/half,who}": "/50%25/fred", "{/who,dub}": "/fred/me%2Ftoo",
            "{/var}": "/value", "{/var,empty}": "/value/", "{/var,undef}": "/value",
            "{/var,x}/here": "/value/1024/here",
            "{/var:1,var}": "/v/value", "{/list}": "/red,green,blue", "{/list*}": "/red/green/blue",
            "{/list*,path:4}": "/red/green/blue/%2Ffoo", "{/keys}": "/semi,%3B,dot,.,comma,%2C",
            "{/keys*}": "/semi=%3B/dot=./comma=%2C",
        ])
        try check([
            "{;who}": ";who=fred", "{;half}": ";half=50%25", "{;empty}": ";empty",
            "{;v,empty,who}": ";v=6;empty;who=fred",
            "{;v,bar,who}": ";v=6;who=fred", "{;x,y}": ";x=1024;y=768", "{;x,y,empty}": ";x=1024;y=768;empty",
            "{;x,y,undef}": ";x=1024;y=768", "{;hello:5}": ";hello=Hello", "{;list}": ";list=red,green,blue",
            "{;list*}": ";list=red;list=green;list=blue", "{;keys}": ";keys=semi,%3B,dot,.,comma,%2C",
            "{;keys*}": ";semi=%3B;dot=.;comma=%2C",
        ])
        try check([
            "{?who}": "?who=fred", "{?half}": "?half=50%25", "{?x,y}": "?x=1024&y=768",
            "{?x,y,empty}": "?x=1024&y=768&empty=", "{?x,y,undef}": "?x=1024&y=768", "{?var:3}": "?var=val",
            "{?list}": "?list=red,green,blue", "{?list*}": "?list=red&list=green&list=blue",
            "{?keys}": "?keys=semi,%3B,dot,.,comma,%2C", "{?keys*}": "?semi=%3B&dot=.&comma=%2C",
        ])
        try check([
            "{&who}": "&who=fred", "{&half}": "&half=50%25", "?fixed=yes{&x}": "?fixed=yes&x=1024",
            "{&x,y,empty}": "&x=1024&y=768&empty=", "{&x,y,undef}": "&x=1024&y=768", "{&var:3}": "&var=val",
            "{&list}": "&list=red,green,blue", "{&list*}": "&list=red&list=green&list=blue",
            "{&keys}": "&keys=semi,%3B,dot,.,comma,%2C", "{&keys*}": "&semi=%3B&dot=.&comma=%2C",
        ])
    }
}

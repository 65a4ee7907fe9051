import Foundation
import KeelSecrets
import Testing

extension SecretStoreCheck {
    private static let odd: [(String, String)] = [
        ("with a slash", "a/b/c"),
        ("that goes up folders", "../../etc/passwd"),
        ("that is one dot", "."),
        ("that is two dots", ".."),
        ("with spaces", " a key "),
        ("with quotes", #"a"b'c`d"#),
        ("with a backslash", #"a\b\n"#),
        ("with a percent sign", "a%2Fb%00"),
        ("with line breaks", "a\nb\r\n"),
        ("with a tab", "a\tb"),
        ("with an equals sign", "a=b;c"),
        ("with umlauts", "schl\u{fc}ssel"),
        ("in Japanese", "\u{79d8}\u{5bc6}\u{306e}\u{9375}"),
        ("that is an emoji", "\u{1f511}\u{200d}\u{1f469}\u{1f3fd}"),
        ("in a right-to-left script", "\u{645}\u{641}\u{62a}\u{627}\u{62d}"),
        ("that is an asterisk", "*"),
        ("that is a number", "0"),
        ("that is one letter", "a"),
        ("of maximum length", String(repeating: "k", count: 255)),
    ]

    package static let names: [Self] =
        odd.map { kind, key in
            Self(
                .names,
                "a key \(kind) can be saved, loaded, listed and deleted",
                needs: [.writable, .anyNames]
            ) {
                test async throws in
                try await test.store.save("odd", forKey: key)
                try await test.store.save("plain", forKey: "plain")
                #expect(try await test.store.loadString(forKey: key) == "odd")
                let keys = try await test.store.list()
                #expect(Set(keys) == [key, "plain"])
                try await test.store.delete(forKey: key)
                #expect(try await test.store.list() == ["plain"])
            }
        } + [
            Self(.names, "keys are case-sensitive", needs: [.writable, .anyNames]) {
                test async throws in
                try await test.store.save("lower", forKey: "key")
                try await test.store.save("upper", forKey: "KEY")
                #expect(try await test.store.loadString(forKey: "key") == "lower")
                #expect(try await test.store.loadString(forKey: "KEY") == "upper")
            },
            Self(
                .names,
                "composed and decomposed characters form different keys",
                needs: [.writable, .anyNames]
            ) {
                test async throws in
                try await test.store.save("composed", forKey: "\u{e9}")
                try await test.store.save("decomposed", forKey: "e\u{301}")
                #expect(try await test.store.loadString(forKey: "\u{e9}") == "composed")
                #expect(try await test.store.loadString(forKey: "e\u{301}") == "decomposed")
                #expect(try await test.store.list().count == 2)
            },
            Self(.names, "a key may be a prefix of another key", needs: [.writable, .anyNames]) {
                test async throws in
                for key in ["a", "aa", "aaa"] { try await test.store.save(key, forKey: key) }
                for key in ["a", "aa", "aaa"] {
                    #expect(try await test.store.loadString(forKey: key) == key)
                }
            },
        ]

    package static let isolation: [Self] =
        [".other", "2", "/a", ".Other"].map { suffix in
            Self(.isolation, "a service and one with the suffix \(suffix) share nothing") {
                test async throws in
                let other = try test.other(suffix)
                try await test.store.save("mine", forKey: "key")
                try await other.save("theirs", forKey: "key")
                try await other.save("more", forKey: "second")
                #expect(try await test.store.loadString(forKey: "key") == "mine")
                #expect(try await other.loadString(forKey: "key") == "theirs")
                #expect(try await test.store.list() == ["key"])
                #expect(try await other.list() == ["key", "second"])
                try await test.store.delete(forKey: "key")
                #expect(try await other.loadString(forKey: "key") == "theirs")
            }
        } + [
            Self(
                .isolation,
                "different splits of one text into service and key stay separate",
                needs: [.writable, .anyNames]
            ) {
                test async throws in
                let other = try test.other("/a")
                try await test.store.save("one", forKey: "a/b")
                try await other.save("two", forKey: "b")
                #expect(try await test.store.loadString(forKey: "a/b") == "one")
                #expect(try await other.loadString(forKey: "b") == "two")
            }
        ]
}

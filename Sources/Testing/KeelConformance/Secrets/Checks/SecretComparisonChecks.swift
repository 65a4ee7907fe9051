import Foundation
import KeelSecrets
import Testing

extension SecretStoreCheck {
    package static let comparison: [Self] = [
        Self(.comparison, "a matching value is replaced", holding: ["A": "1"]) {
            test async throws in
            #expect(try await test.set("A", from: "1", to: "2"))
            #expect(try await test.store.loadString(forKey: "A") == "2")
        },
        Self(.comparison, "a value that does not match is kept", holding: ["A": "1"]) {
            test async throws in
            #expect(try await test.set("A", from: "0", to: "2") == false)
            #expect(try await test.store.loadString(forKey: "A") == "1")
        },
        Self(.comparison, "an absent key is set when no value is expected") { test async throws in
            #expect(try await test.set("A", from: nil, to: "1"))
            #expect(try await test.store.loadString(forKey: "A") == "1")
        },
        Self(.comparison, "a present value is kept when no value is expected", holding: ["A": "1"])
        {
            test async throws in
            #expect(try await test.set("A", from: nil, to: "2") == false)
            #expect(try await test.store.loadString(forKey: "A") == "1")
        },
        Self(.comparison, "an absent key stays absent when a value is expected") {
            test async throws in
            #expect(try await test.set("A", from: "1", to: "2") == false)
            #expect(try await test.store.exists(forKey: "A") == false)
        },
        Self(.comparison, "a matching value is removed", holding: ["A": "1"]) { test async throws in
            #expect(try await test.set("A", from: "1", to: nil))
            #expect(try await test.store.exists(forKey: "A") == false)
        },
        Self(.comparison, "a value that does not match is not removed", holding: ["A": "1"]) {
            test async throws in
            #expect(try await test.set("A", from: "2", to: nil) == false)
            #expect(try await test.store.exists(forKey: "A"))
        },
        Self(.comparison, "an empty secret differs from an absent one", holding: ["A": ""]) {
            test async throws in
            #expect(try await test.set("A", from: nil, to: "1") == false)
            #expect(try await test.set("A", from: "", to: "1"))
        },
        Self(.comparison, "a value that only shares a prefix does not match", holding: ["A": "12"])
        {
            test async throws in
            #expect(try await test.set("A", from: "1", to: "x") == false)
            #expect(try await test.set("A", from: "123", to: "x") == false)
        },
    ]

    package static let concurrency: [Self] = [
        Self(.concurrency, "exactly one of many concurrent tasks sets an absent key") {
            test async throws in
            let winners = try await count(of: 16) { number in
                try await test.set("A", from: nil, to: "\(number)")
            }
            #expect(winners == 1)
        },
        Self(
            .concurrency,
            "exactly one of many concurrent tasks replaces a value",
            holding: ["A": "0"]
        ) {
            test async throws in
            let winners = try await count(of: 16) { number in
                try await test.set("A", from: "0", to: "\(number + 1)")
            }
            #expect(winners == 1)
        },
        Self(.concurrency, "concurrent increments of a counter lose nothing", holding: ["A": "0"]) {
            test async throws in
            let done = try await count(of: 8) { _ in
                for _ in 0..<4 {
                    var isSet = false
                    while !isSet {
                        let old = try await test.store.loadString(forKey: "A")
                        let new = String((Int(old) ?? 0) + 1)
                        isSet = try await test.set("A", from: old, to: new)
                    }
                }
                return true
            }
            #expect(done == 8)
            #expect(try await test.store.loadString(forKey: "A") == "32")
        },
        Self(.concurrency, "keys saved concurrently are all present") { test async throws in
            _ = try await count(of: 32) { number in
                try await test.store.save("\(number)", forKey: "K\(100 + number)")
                return true
            }
            #expect(try await test.store.list() == (100..<132).map { "K\($0)" })
            for number in 0..<32 {
                let text = try await test.store.loadString(forKey: "K\(100 + number)")
                #expect(text == "\(number)")
            }
        },
        Self(
            .concurrency,
            "a concurrent reader sees either the old or the new value in full",
            holding: ["A": "a"]
        ) {
            test async throws in
            let texts = ["a", String(repeating: "b", count: 9_000)]
            let whole = try await count(of: 12) { number in
                if number.isMultiple(of: 3) {
                    try await test.store.save(texts[number / 3 % 2], forKey: "A")
                    return true
                }
                return texts.contains(try await test.store.loadString(forKey: "A"))
            }
            #expect(whole == 12)
        },
        Self(
            .concurrency,
            "concurrent saves and deletions of other keys do not affect a key",
            holding: ["A": "1"]
        ) {
            test async throws in
            let found = try await count(of: 12) { number in
                switch number % 3 {
                case 0: try await test.store.save("x", forKey: "B\(number)")
                case 1: try await test.store.delete(forKey: "B\(number - 1)")
                default: break
                }
                return try await test.store.loadString(forKey: "A") == "1"
            }
            #expect(found == 12)
        },
    ]

    private static func count(
        of number: Int,
        _ call: @escaping @Sendable (Int) async throws -> Bool
    ) async throws -> Int {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<number {
                group.addTask { try await call(index) }
            }
            var count = 0
            for try await answer in group where answer { count += 1 }
            return count
        }
    }
}

extension SecretStoreUnderTest {
    fileprivate func set(_ key: String, from old: String?, to new: String?) async throws -> Bool {
        try await store.compareAndSet(
            forKey: key,
            expected: old.map { Data($0.utf8) },
            new: new.map { Data($0.utf8) }
        )
    }
}

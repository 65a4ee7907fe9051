import Foundation
import KeelSecrets
import Testing

private struct Credentials: Codable, Equatable, Sendable {
    var user: String
    var token: Data
    var expires: Date
    var scopes: [String]
}

extension SecretStoreCheck {
    package static let values: [Self] = [
        Self(.values, "text in many scripts comes back unchanged") { test async throws in
            let text = "Gr\u{fc}\u{df}e \u{1f511} \u{79d8}\u{5bc6} e\u{301}"
            try await test.store.save(text, forKey: "key")
            let read = try await test.store.loadString(forKey: "key")
            #expect(read.utf8.elementsEqual(text.utf8))
        },
        Self(
            .values,
            "loading bytes that are not UTF-8 as a string fails",
            needs: [.writable, .anyBytes]
        ) {
            test async throws in
            try await test.store.save(Data([0xff, 0xfe]), forKey: "key")
            #expect(
                await test.code { () async throws(SecretError) in
                    _ = try await test.store.loadString(forKey: "key")
                } == .invalidData
            )
        },
        Self(.values, "a Codable value comes back equal") { test async throws in
            let value = Credentials(
                user: "a",
                token: Data([0, 255]),
                expires: Date(timeIntervalSinceReferenceDate: 123.5),
                scopes: ["x", ""]
            )
            try await test.store.save(encoding: value, forKey: "key")
            #expect(try await test.store.loadValue(Credentials.self, forKey: "key") == value)
        },
        Self(.values, "a value of another type is invalid and not revealed by the error") {
            test async throws in
            try await test.store.save("pl4nted", forKey: "key")
            do throws(SecretError) {
                _ = try await test.store.loadValue(Credentials.self, forKey: "key")
                Issue.record("a text was taken for another type")
            } catch {
                #expect(error.code == .invalidData)
                #expect("\(error)".contains("pl4nted") == false)
            }
        },
        Self(.values, "a missing value is not found") { test async throws in
            #expect(
                await test.code { () async throws(SecretError) in
                    _ = try await test.store.loadValue(Credentials.self, forKey: "key")
                } == .keyNotFound
            )
        },
    ]

    package static let reopening: [Self] = [
        Self(.reopening, "a second opening sees the saved secrets", needs: [.writable, .reopening])
        {
            test async throws in
            try await test.store.save("1", forKey: "A")
            let second = try await test.reopened()
            #expect(try await second.loadString(forKey: "A") == "1")
            #expect(try await second.list() == ["A"])
        },
        Self(.reopening, "each opening sees the other's changes", needs: [.writable, .reopening]) {
            test async throws in
            let second = try await test.reopened()
            try await test.store.save("1", forKey: "A")
            #expect(try await second.loadString(forKey: "A") == "1")
            try await second.save("2", forKey: "A")
            #expect(try await test.store.loadString(forKey: "A") == "2")
            try await second.delete(forKey: "A")
            #expect(try await test.store.exists(forKey: "A") == false)
        },
        Self(
            .reopening,
            "concurrent saves through two openings lose nothing",
            needs: [.writable, .reopening]
        ) { test async throws in
            let first = test.store
            let second = try await test.reopened()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (name, store) in [("A", first), ("B", second)] {
                    group.addTask {
                        for number in 10..<22 {
                            try await store.save("x", forKey: "\(name)\(number)")
                        }
                    }
                }
                try await group.waitForAll()
            }
            let expected = ["A", "B"].flatMap { name in (10..<22).map { "\(name)\($0)" } }
            #expect(try await first.list() == expected)
        },
        Self(
            .reopening,
            "compare-and-set works across openings",
            needs: [.writable, .reopening]
        ) { test async throws in
            let first = test.store
            let second = try await test.reopened()
            let isFirst = try await first.compareAndSet(
                forKey: "A",
                expected: nil,
                new: Data("1".utf8)
            )
            let isSecond = try await second.compareAndSet(
                forKey: "A",
                expected: nil,
                new: Data("2".utf8)
            )
            #expect(isFirst && !isSecond)
            #expect(try await second.loadString(forKey: "A") == "1")
        },
    ]
}

import Foundation
import KeelSecrets
import Testing

extension SecretStoreCheck {
    package static let limits: [Self] =
        [
            ("an empty key", ""),
            ("a key with a zero byte", "a\u{0}b"),
            ("a key that is too long", String(repeating: "k", count: 256)),
        ].map { kind, key in
            Self(.limits, "\(kind) is rejected", needs: []) { test async throws in
                #expect(
                    await test.code { () async throws(SecretError) in
                        try await test.store.save("x", forKey: key)
                    } == .invalidArgument
                )
                #expect(
                    await test.code { () async throws(SecretError) in
                        _ = try await test.store.loadIfPresent(forKey: key)
                    } == .invalidArgument
                )
                #expect(
                    await test.code { () async throws(SecretError) in
                        try await test.store.delete(forKey: key)
                    } == .invalidArgument
                )
            }
        } + [
            Self(.limits, "an invalid service name is rejected", needs: []) { test async throws in
                for service in ["", "a\u{0}b", String(repeating: "s", count: 256)] {
                    #expect(
                        await test.code { () async throws(SecretError) in
                            _ = try SecretStore(test.adapter, service: service)
                        } == .invalidArgument
                    )
                }
            },
            Self(.limits, "a secret that is too long is rejected and the old one kept") {
                test async throws in
                try await test.store.save("old", forKey: "key")
                let long = Data(count: SecretStore.maximumByteCount + 1)
                #expect(
                    await test.code { () async throws(SecretError) in
                        try await test.store.save(long, forKey: "key")
                    } == .tooLarge
                )
                #expect(try await test.store.loadString(forKey: "key") == "old")
            },
            Self(.limits, "a canceled call changes nothing", holding: ["A": "1"]) {
                test async throws in
                let task = Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    return await test.code { () async throws(SecretError) in
                        try await test.store.save("2", forKey: "A")
                    }
                }
                #expect(await task.value == .cancelled)
                #expect(try await test.store.loadString(forKey: "A") == "1")
            },
        ]

    package static let refusals: [Self] = [
        Self(.limits, "saving is rejected", needs: .readOnly, holding: ["A": "1"]) {
            test async throws in
            #expect(
                await test.code { () async throws(SecretError) in
                    try await test.store.save("2", forKey: "A")
                } == .readOnly
            )
            #expect(try await test.store.loadString(forKey: "A") == "1")
        },
        Self(.limits, "deleting is rejected", needs: .readOnly, holding: ["A": "1"]) {
            test async throws in
            #expect(
                await test.code { () async throws(SecretError) in
                    try await test.store.delete(forKey: "A")
                } == .readOnly
            )
            #expect(try await test.store.exists(forKey: "A"))
        },
        Self(.limits, "compare-and-set is rejected", needs: .readOnly, holding: ["A": "1"]) {
            test async throws in
            #expect(
                await test.code { () async throws(SecretError) in
                    _ = try await test.store.compareAndSet(
                        forKey: "A",
                        expected: Data("1".utf8),
                        new: nil
                    )
                } == .readOnly
            )
        },
    ]

    package static let capabilities: [Self] = [
        Self(.capabilities, "the capabilities report whether the store is writable", needs: []) {
            test async throws in
            let capabilities = await test.store.capabilities()
            #expect(capabilities.isWritable == test.features.contains(.writable))
        },
        Self(.capabilities, "a store in use is unlocked and reports no problem", needs: []) {
            test async throws in
            let capabilities = await test.store.capabilities()
            #expect(capabilities.isLocked == false)
            #expect(capabilities.problem == nil)
            #expect(capabilities.kind.name.isEmpty == false)
        },
        Self(
            .capabilities,
            "descriptions do not reveal secrets",
            needs: [],
            holding: ["A": "pl4nted"]
        ) {
            test async throws in
            _ = try await test.store.load(forKey: "A")
            var dumped = ""
            dump(test.store, to: &dumped)
            dump(test.adapter, to: &dumped)
            let shown = "\(test.store)\(test.adapter)\(dumped)"
            #expect(shown.contains("pl4nted") == false)
            // An array shows its bytes as numbers, and a dump shows one on each line.
            let digits = "pl4nted".utf8.map { "\($0)" }.joined()
            #expect(shown.filter(\.isWholeNumber).contains(digits) == false)
        },
    ]
}

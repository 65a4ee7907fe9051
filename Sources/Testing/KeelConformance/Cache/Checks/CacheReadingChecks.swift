import KeelCache
import Testing

extension CacheTierCheck {
    package static let reading: [Self] = [
        Self(.reading, "a key that was never written is not found") { test async throws in
            try await test.write(test.record("a"))
            #expect(try await test.read("b") == nil)
        },
        Self(.reading, "an entry is returned with its key, value, times and tags") {
            test async throws in
            var written = test.record("a", [1, 2, 3], expires: test.later(60), tags: ["x", "y"])
            written.staleAfter = test.later(30)
            try await test.write(written)
            let read = try #require(try await test.read("a"))
            #expect(read.key == written.key)
            #expect(try read.body.bytes() == [1, 2, 3])
            #expect(read.body.count == 3)
            #expect(read.created == written.created)
            #expect(read.staleAfter == written.staleAfter)
            #expect(read.expires == written.expires)
            #expect(Set(read.tags) == ["x", "y"])
        },
        Self(.reading, "unset times are returned as unset") { test async throws in
            try await test.write(test.record("a"))
            let read = try #require(try await test.read("a"))
            #expect(read.expires == nil && read.staleAfter == nil && read.tags.isEmpty)
        },
        Self(.reading, "an empty value is stored") { test async throws in
            try await test.write(test.record("a", []))
            #expect(try await test.value("a") == [])
        },
        Self(.reading, "values of many lengths are returned byte for byte") { test async throws in
            for count in [1, 255, 256, 4_095, 4_096, 65_535, 65_536, 1_000_000] {
                try await test.write(test.record("\(count)", patterned(count, count: count)))
            }
            for count in [1, 255, 256, 4_095, 4_096, 65_535, 65_536, 1_000_000] {
                let value = try await test.value("\(count)")
                #expect(value == patterned(count, count: count), "a value of \(count) bytes")
            }
        },
        Self(.reading, "keys are distinguished by every byte") { test async throws in
            let keys: [[UInt8]] = [
                [0], [0, 0], [1], [255], [0, 255], Array("a".utf8), Array("A".utf8),
                Array("a/b".utf8), Array("a%2Fb".utf8), Array("..".utf8),
                Array("\u{e9}".utf8), Array("e\u{301}".utf8), Array(repeating: 7, count: 1_000),
                Array(repeating: 7, count: 1_001),
            ]
            let tier = try test.tier
            for (index, key) in keys.enumerated() {
                let body = CacheBody.bytes([UInt8(index)])
                try await tier.write([CacheRecord(key: key, body: body, created: test.now)])
            }
            for (index, key) in keys.enumerated() {
                #expect(try await tier.read(key)?.body.bytes() == [UInt8(index)])
            }
        },
        Self(.reading, "reading does not change an entry's times") { test async throws in
            let written = test.record("a", expires: test.later(60))
            try await test.write(written)
            await test.pass(30)
            _ = try await test.read("a")
            let read = try #require(try await test.read("a"))
            #expect(read.created == written.created && read.expires == written.expires)
            await test.pass(30)
            #expect(try await test.read("a") == nil)
        },
        Self(.reading, "a stale entry that has not expired is found") { test async throws in
            var record = test.record("a", expires: test.later(60))
            record.staleAfter = test.later(1)
            try await test.write(record)
            await test.pass(2)
            #expect(try await test.read("a") != nil)
        },
    ]

    package static let writing: [Self] = [
        Self(.writing, "an entry replaces the previous one of its key, with its times and tags") {
            test async throws in
            try await test.write(test.record("a", [1], expires: test.later(5), tags: ["old"]))
            try await test.write(test.record("a", [2], tags: ["new"]))
            let read = try #require(try await test.read("a"))
            #expect(try read.body.bytes() == [2])
            #expect(read.expires == nil && read.tags == ["new"])
            await test.pass(6)
            #expect(try await test.value("a") == [2])
        },
        Self(.writing, "the entry written last is kept, however old its value is") {
            test async throws in
            let old = test.record("a", [1])
            await test.pass(10)
            try await test.write(test.record("a", [2]))
            try await test.write(old)
            #expect(try await test.value("a") == [1])
        },
        Self(.writing, "the later of two entries for one key in a call is kept") {
            test async throws in
            try await test.write(test.record("a", [1]), test.record("b"), test.record("a", [2]))
            #expect(try await test.value("a") == [2])
        },
        Self(.writing, "all entries of one call are found") { test async throws in
            try await test.tier.write((0..<300).map { test.record("\($0)", [UInt8($0 % 256)]) })
            for index in 0..<300 {
                #expect(try await test.value("\(index)") == [UInt8(index % 256)])
            }
        },
        Self(.writing, "writing no entries succeeds") { test async throws in
            try await test.tier.write([])
            #expect(try await test.tier.usage().entryCount == 0)
        },
        Self(.writing, "a shorter value replaces a longer one completely") { test async throws in
            try await test.write(test.record("a", patterned(1, count: 100_000)))
            try await test.write(test.record("a", [9]))
            #expect(try await test.value("a") == [9])
        },
        Self(.writing, "written entries are found after repeated flushes") {
            test async throws in
            try await test.flush()
            try await test.write(test.record("a", [1]))
            try await test.flush()
            try await test.flush()
            #expect(try await test.value("a") == [1])
        },
    ]
}

import KeelCache
import Testing

extension CacheTierCheck {
    package static let limits: [Self] = [
        Self(.limits, "never uses more bytes than its limit", needs: .byteLimit) {
            test async throws in
            try await test.reopen(byteLimit: 1 << 20)
            let limit = try #require(try await test.tier.usage().byteLimit)
            #expect(limit <= 1 << 20)
            for index in 0..<300 {
                try await test.write(
                    test.record("\(index % 200)", patterned(index, count: 1_000 * (index % 17)))
                )
                #expect(try await test.tier.usage().byteCount <= limit)
            }
        },
        Self(.limits, "makes room for new entries when it is full", needs: .byteLimit) {
            test async throws in
            try await test.reopen(byteLimit: 1 << 20)
            for index in 0..<400 {
                let value = patterned(index, count: 10_000)
                try await test.write(test.record("\(index)", value))
                #expect(try await test.value("\(index)") == value)
            }
            let usage = try await test.tier.usage()
            #expect(usage.evictionCount > 0)
            #expect(usage.entryCount > 10)
        },
        Self(
            .limits,
            "rejects an entry that is too large and drops the one it replaces",
            needs: .byteLimit
        ) {
            test async throws in
            try await test.reopen(byteLimit: 1 << 20)
            try await test.write(test.record("a", [1]), test.record("b", [2]))
            let tier = try test.tier
            do throws(CacheError) {
                let large = test.record("a", patterned(1, count: 2 << 20))
                try await tier.write([large])
            } catch {
                #expect(error.code == .tooLarge)
            }
            #expect(try await test.value("a") == nil)
            #expect(try await test.value("b") == [2])
        },
    ]

    package static let files: [Self] = [
        Self(.files, "a value in a file of another tier is stored in full") {
            test async throws in
            var record = test.record("a")
            let content = patterned(3, count: 300_000)
            record.body = .file(ForeignFile(content))
            try await test.write(record)
            #expect(try await test.value("a") == content)
        },
        Self(.files, "a value written in pieces is returned in full", needs: .files) {
            test async throws in
            let writer = try #require(try await test.tier.makeFile())
            let content = patterned(1, count: 500_000)
            for start in stride(from: 0, to: content.count, by: 70_001) {
                try writer.append(Array(content[start..<min(start + 70_001, content.count)]))
            }
            var record = test.record("a", tags: ["x"])
            record.body = .file(try writer.finish())
            #expect(try await test.read("a") == nil)
            try await test.write(record)
            #expect(try await test.value("a") == content)
            #expect(try await test.read("a")?.body.count == content.count)
        },
        Self(.files, "a file can be read in pieces from any offset", needs: .files) {
            test async throws in
            let content = patterned(2, count: 200_000)
            let file = try await test.file(content)
            #expect(file.count == content.count)
            #expect(try file.read(from: 0, upTo: 10) == Array(content[..<10]))
            #expect(try file.read(from: 65_530, upTo: 100) == Array(content[65_530..<65_630]))
            #expect(try file.read(from: 199_990, upTo: 100) == Array(content[199_990...]))
            #expect(try file.read(from: 200_000, upTo: 100) == [])
        },
        Self(.files, "a file in use outlives its entry", needs: .files) {
            test async throws in
            var record = test.record("a")
            record.body = .file(try await test.file(patterned(4, count: 200_000)))
            try await test.write(record)
            let held = try #require(try await test.read("a"))
            try await test.remove("a")
            try await test.flush()
            #expect(try await test.read("a") == nil)
            #expect(try held.body.bytes() == patterned(4, count: 200_000))
        },
        Self(.files, "an unfinished value leaves no entry", needs: .files) {
            test async throws in
            let dropped = try #require(try await test.tier.makeFile())
            try dropped.append(patterned(1, count: 100_000))
            dropped.discard()
            var left = try await test.tier.makeFile()
            try left?.append(patterned(1, count: 100_000))
            left = nil
            #expect(try await test.tier.usage().entryCount == 0)
        },
        Self(.files, "a tier without files returns no file", needs: []) { test async throws in
            if !test.features.contains(.files) {
                #expect(try await test.tier.makeFile() == nil)
            }
        },
    ]
}

extension TierUnderTest {
    func file(_ content: [UInt8]) async throws -> any CacheFile {
        let writer = try #require(try await tier.makeFile())
        try writer.append(content)
        return try writer.finish()
    }
}

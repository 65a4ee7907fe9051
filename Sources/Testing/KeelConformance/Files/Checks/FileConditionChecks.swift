import Foundation
import KeelFiles
import Testing

extension FileStoreCheck {
    package static let conditions: [Self] = [
        Self(.conditions, "each content has its own version") { test async throws in
            var versions: Set<FileVersion> = []
            for text in ["1", "2", "3"] {
                versions.insert(try await test.put(text, at: "a").version)
            }
            #expect(versions.count == 3)
        },
        Self(
            .conditions,
            "writing the same content again creates a new version",
            needs: .distinctVersions
        ) {
            test async throws in
            var versions: Set<FileVersion> = []
            for text in ["1", "2", "1", "1"] {
                versions.insert(try await test.put(text, at: "a").version)
            }
            #expect(versions.count == 4)
        },
        Self(.conditions, "the version stays the same until the file changes") {
            test async throws in
            let version = try await test.put("x", at: "a").version
            _ = try await test.files.read("a")
            try await test.put("y", at: "b")
            #expect(try await test.files.metadata(of: "a").version == version)
            #expect(try await test.files.open("a").metadata.version == version)
            #expect(try await test.files.list().files.first?.version == version)
        },
        Self(.conditions, "a put that requires absence succeeds only once") { test async throws in
            try await test.put("1", at: "a", .init(condition: .absent))
            let code = await test.code {
                try await test.put("2", at: "a", .init(condition: .absent))
            }
            #expect(code == .conditionFailed)
            #expect(try await test.text("a") == "1")
        },
        Self(.conditions, "a put that requires presence succeeds only for an existing file") {
            test async throws in
            let code = await test.code {
                try await test.put("1", at: "a", .init(condition: .present))
            }
            #expect(code == .conditionFailed)
            #expect(try await test.files.exists("a") == false)
            try await test.put("1", at: "a")
            try await test.put("2", at: "a", .init(condition: .present))
            #expect(try await test.text("a") == "2")
        },
        Self(.conditions, "a put replaces only the expected version") { test async throws in
            let first = try await test.put("1", at: "a").version
            let second = try await test.put("2", at: "a", .init(condition: .version(first))).version
            let code = await test.code {
                try await test.put("3", at: "a", .init(condition: .version(first)))
            }
            #expect(code == .conditionFailed)
            #expect(try await test.text("a") == "2")
            try await test.put("4", at: "a", .init(condition: .version(second)))
        },
        Self(.conditions, "a put that expects a deleted version fails") { test async throws in
            let version = try await test.put("1", at: "a").version
            try await test.files.delete("a")
            let code = await test.code {
                try await test.put("2", at: "a", .init(condition: .version(version)))
            }
            #expect(code == .conditionFailed)
            #expect(try await test.files.exists("a") == false)
        },
        Self(.conditions, "a read succeeds only for the expected version") { test async throws in
            let first = try await test.put("1", at: "a").version
            _ = try await test.files.open("a", ifVersion: first)
            try await test.put("2", at: "a")
            let code = await test.code { _ = try await test.files.open("a", ifVersion: first) }
            #expect(code == .conditionFailed)
        },
        Self(.conditions, "a deletion succeeds only for the expected version") {
            test async throws in
            let first = try await test.put("1", at: "a").version
            let second = try await test.put("2", at: "a").version
            let code = await test.code { try await test.files.delete("a", if: .version(first)) }
            #expect(code == .conditionFailed)
            #expect(try await test.files.delete("a", if: .version(second)))
            let gone = await test.code { try await test.files.delete("a", if: .present) }
            #expect(gone == .conditionFailed)
        },
    ]

    package static let concurrency: [Self] = [
        Self(.concurrency, "exactly one of many concurrent puts of an absent file succeeds") {
            test async throws in
            let winners = try await winners(of: 16) { number in
                try await test.put("\(number)", at: "a/b", .init(condition: .absent))
            }
            #expect(winners == 1)
        },
        Self(.concurrency, "exactly one of many concurrent replacements of a version succeeds") {
            test async throws in
            let version = try await test.put("old", at: "a").version
            let winners = try await winners(of: 16) { number in
                try await test.put("\(number)", at: "a", .init(condition: .version(version)))
            }
            #expect(winners == 1)
        },
        Self(.concurrency, "a reader concurrent with writers sees complete files") {
            test async throws in
            let sizes = 30_000..<30_008
            try await test.files.write(FileContent(fileBytes(30_000, count: 30_000)), to: "a")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for size in sizes {
                    group.addTask {
                        try await test.files.write(
                            FileContent(fileBytes(size, count: size)),
                            to: "a"
                        )
                    }
                    group.addTask {
                        let bytes = try await Array(test.files.read("a"))
                        #expect(sizes.contains(bytes.count))
                        #expect(bytes == fileBytes(bytes.count, count: bytes.count))
                    }
                }
                try await group.waitForAll()
            }
        },
        Self(.concurrency, "concurrent puts and deletions in one folder do not interfere") {
            test async throws in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        for _ in 0..<8 {
                            try await test.put("\(number)", at: "a/b/\(number)")
                            try await test.files.delete("a/b/\(number)")
                        }
                        try await test.put("\(number)", at: "a/b/\(number)")
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await test.paths().count == 8)
        },
        Self(.concurrency, "concurrent increments of a counter lose nothing") { test async throws in
            try await test.put("0", at: "a")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 { group.addTask { for _ in 0..<4 { try await raise("a", test) } } }
                try await group.waitForAll()
            }
            #expect(try await test.text("a") == "16")
        },
    ]

    /// Returns the number of calls that did not fail with `conditionFailed`.
    private static func winners(
        of count: Int,
        _ call: @escaping @Sendable (Int) async throws -> Void
    ) async throws -> Int {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<count {
                group.addTask {
                    do {
                        try await call(number)
                        return 1
                    } catch let error as FileStoreError where error.code == .conditionFailed {
                        return 0
                    }
                }
            }
            return try await group.reduce(0, +)
        }
    }

    private static func raise(_ path: FileStorePath, _ test: FileStoreUnderTest) async throws {
        while true {
            let reading = try await test.files.open(path)
            let bytes = try await reading.content.collect(upTo: 100)
            let number = try #require(Int(String(decoding: bytes, as: UTF8.self)))
            let code = await test.code {
                try await test.put(
                    "\(number + 1)",
                    at: path,
                    .init(condition: .version(reading.metadata.version))
                )
            }
            if code == nil { return }
            try #require(code == .conditionFailed)
        }
    }
}

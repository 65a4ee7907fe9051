import Foundation
import KeelFiles
import Testing

extension FileStoreCheck {
    package static let writing: [Self] = [
        Self(.writing, "a second put replaces the first file") { test async throws in
            try await test.put("first and longer", at: "a")
            try await test.put("second", at: "a")
            #expect(try await test.text("a") == "second")
        },
        Self(.writing, "a put returns the metadata of the new file") {
            test async throws in
            let put = try await test.put("hello", at: "b/a.txt")
            let known = try await test.files.metadata(of: "b/a.txt")
            #expect(put == known)
            #expect(known.path == "b/a.txt")
            #expect(known.size == 5)
        },
        Self(.writing, "folders are created implicitly") { test async throws in
            try await test.put("x", at: "a/b/c/d/e.txt")
            #expect(try await test.text("a/b/c/d/e.txt") == "x")
        },
        Self(.writing, "neighboring files are unaffected") { test async throws in
            try await test.put("1", at: "a/one")
            try await test.put("2", at: "a/two")
            try await test.put("3", at: "a/one")
            #expect(try await test.text("a/two") == "2")
        },
        Self(.writing, "a file cannot replace a folder", needs: .eitherFileOrFolder) {
            test async throws in
            try await test.put("x", at: "a/b")
            #expect(await test.code { try await test.put("y", at: "a") } == .pathTaken)
            #expect(try await test.text("a/b") == "x")
        },
        Self(.writing, "a folder cannot replace a file", needs: .eitherFileOrFolder) {
            test async throws in
            try await test.put("x", at: "a")
            #expect(await test.code { try await test.put("y", at: "a/b") } == .pathTaken)
            #expect(await test.code { try await test.put("y", at: "a/b/c") } == .pathTaken)
            #expect(try await test.text("a") == "x")
        },
        Self(.writing, "the progress reaches the byte count") { test async throws in
            let bytes = fileBytes(3, count: 100_000)
            let (steps, telling) = AsyncStream<FileProgress>.makeStream()
            try await test.files.write(piecewise(bytes), to: "a") { telling.yield($0) }
            telling.finish()
            let counts = await steps.reduce(into: [Int]()) { $0.append($1.byteCount) }
            #expect(counts.last == 100_000)
            #expect(counts == counts.sorted())
        },
    ]

    package static let metadata: [Self] = [
        Self(.metadata, "the type is derived from the extension") { test async throws in
            #expect(try await test.put("x", at: "a.JPG").contentType == "image/jpeg")
            #expect(try await test.put("x", at: "a.json").contentType == "application/json")
            #expect(try await test.put("x", at: "a").contentType == "application/octet-stream")
        },
        Self(.metadata, "a specified type is kept", needs: .attributes) { test async throws in
            try await test.put("x", at: "a.jpg", .init(contentType: "image/x-own"))
            #expect(try await test.files.metadata(of: "a.jpg").contentType == "image/x-own")
        },
        Self(.metadata, "attributes are kept unchanged", needs: .attributes) {
            test async throws in
            let attributes = ["taken-by": "Zoë 写真", "n": "1", "empty": "", "quote": "\"\\\n"]
            try await test.put("x", at: "a", .init(attributes: attributes))
            #expect(try await test.files.metadata(of: "a").attributes == attributes)
            #expect(try await test.files.open("a").metadata.attributes == attributes)
        },
        Self(.metadata, "a replaced file keeps none of the old attributes", needs: .attributes) {
            test async throws in
            try await test.put(
                "x",
                at: "a",
                .init(contentType: "text/x-a", attributes: ["one": "1"])
            )
            try await test.put("y", at: "a", .init(attributes: ["two": "2"]))
            let metadata = try await test.files.metadata(of: "a")
            #expect(metadata.attributes == ["two": "2"])
            #expect(metadata.contentType == "application/octet-stream")
        },
        Self(.metadata, "2 KiB of attributes are accepted, more are rejected", needs: .attributes) {
            test async throws in
            let most = FileWriteOptions.maximumAttributeByteCount
            let fitting = ["a": String(repeating: "x", count: most - 1)]
            try await test.put("x", at: "a", .init(attributes: fitting))
            #expect(try await test.files.metadata(of: "a").attributes == fitting)
            let more = ["a": String(repeating: "x", count: most)]
            let code = await test.code { try await test.put("y", at: "a", .init(attributes: more)) }
            #expect(code == .tooLarge)
            #expect(try await test.text("a") == "x")
        },
        Self(.metadata, "attribute names may contain only lowercase letters, digits and “-”") {
            test async throws in
            for name in ["", "A", "a b", "ä", "a_b"] {
                let code = await test.code {
                    try await test.put("x", at: "a", .init(attributes: [name: "1"]))
                }
                #expect(code == .invalidArgument, "\(name)")
            }
            #expect(try await test.files.exists("a") == false)
        },
        Self(.metadata, "the modification time is the time of the put") { test async throws in
            let before = Date.now.addingTimeInterval(-5)
            let metadata = try await test.put("x", at: "a")
            #expect(metadata.modified >= before)
            #expect(metadata.modified <= Date.now.addingTimeInterval(5))
        },
    ]

    package static let integrity: [Self] = [
        Self(.integrity, "a correct checksum is accepted") { test async throws in
            let bytes = fileBytes(1, count: 100_000)
            let checksum = try FileChecksum.of(bytes, by: .crc32c)
            try await test.files.write(
                piecewise(bytes),
                to: "a",
                options: .init(checksum: checksum)
            )
            #expect(try await test.files.read("a").count == 100_000)
        },
        Self(.integrity, "a wrong checksum changes nothing") { test async throws in
            try await test.put("old", at: "a")
            let checksum = try FileChecksum.of(Array("other".utf8), by: .crc32c)
            let code = await test.code {
                try await test.put("new", at: "a", .init(checksum: checksum))
            }
            #expect(code == .checksumMismatch)
            #expect(try await test.text("a") == "old")
            #expect(try await test.paths() == ["a"])
        },
        Self(.integrity, "the metadata contains a checksum of the bytes", needs: .checksums) {
            test async throws in
            let bytes = Array("hello".utf8)
            try await test.files.write(FileContent(bytes), to: "a")
            let checksum = try #require(try await test.files.metadata(of: "a").checksum)
            #expect(try checksum == FileChecksum.of(bytes, by: checksum.algorithm))
        },
        Self(.integrity, "content shorter than announced changes nothing") { test async throws in
            try await test.put("old", at: "a")
            let short = FileContent(length: 10, isReplayable: true) { () throws(FileStoreError) in
                try await FileContent(Array("12345".utf8)).open()
            }
            let code = await test.code { try await test.files.write(short, to: "a") }
            #expect(code == .checksumMismatch)
            #expect(try await test.text("a") == "old")
        },
        Self(.integrity, "content longer than announced changes nothing") { test async throws in
            let long = FileContent(length: 3, isReplayable: true) { () throws(FileStoreError) in
                try await FileContent(Array("12345".utf8)).open()
            }
            let code = await test.code { try await test.files.write(long, to: "a") }
            #expect(code == .checksumMismatch)
            #expect(try await test.files.exists("a") == false)
        },
    ]
}

import Foundation
import KeelFiles
import Testing

extension FileStoreCheck {
    package static let reading: [Self] = [
        Self(.reading, "a file can be read after a put") { test async throws in
            try await test.put("one", at: "a.txt")
            #expect(try await test.text("a.txt") == "one")
        },
        Self(.reading, "an empty file exists") { test async throws in
            let metadata = try await test.put("", at: "empty")
            #expect(metadata.size == 0)
            #expect(try await test.files.read("empty").isEmpty)
            #expect(try await test.files.exists("empty"))
        },
        Self(.reading, "files of all sizes come back unchanged") { test async throws in
            for count in [1, 255, 4096, 65_537, 300_000] {
                let bytes = fileBytes(count, count: count)
                try await test.files.write(FileContent(bytes), to: "f")
                #expect(try await Array(test.files.read("f")) == bytes)
            }
        },
        Self(.reading, "a file written in pieces is complete") { test async throws in
            let bytes = fileBytes(1, count: 700_001)
            try await test.files.write(piecewise(bytes), to: "f")
            #expect(try await Array(test.files.read("f")) == bytes)
        },
        Self(.reading, "an absent file is not found") { test async throws in
            #expect(await test.code { _ = try await test.files.read("a") } == .fileNotFound)
            #expect(await test.code { _ = try await test.files.metadata(of: "a") } == .fileNotFound)
            #expect(try await test.files.readIfPresent("a") == nil)
            #expect(try await test.files.exists("a") == false)
        },
        Self(.reading, "a folder is not a file") { test async throws in
            try await test.put("x", at: "a/b")
            #expect(try await test.files.exists("a") == false)
            #expect(await test.code { _ = try await test.files.read("a") } == .fileNotFound)
        },
        Self(.reading, "a file contains no other files") { test async throws in
            try await test.put("x", at: "a")
            #expect(try await test.files.exists("a/b") == false)
            #expect(await test.code { _ = try await test.files.read("a/b") } == .fileNotFound)
        },
        Self(.reading, "reading more bytes than the limit is rejected") { test async throws in
            try await test.put("12345", at: "a")
            #expect(await test.code { _ = try await test.files.read("a", upTo: 4) } == .tooLarge)
            #expect(try await test.files.read("a", upTo: 5).count == 5)
        },
        Self(.reading, "a reader reads one version to the end") { test async throws in
            let old = fileBytes(1, count: 600_000)
            try await test.files.write(FileContent(old), to: "f")
            let reading = try await test.files.open("f")
            var iterator = reading.content.makeAsyncIterator()
            var read = try await iterator.next() ?? []
            try await test.files.write(FileContent(fileBytes(2, count: 600_000)), to: "f")
            while let piece = try await iterator.next() { read += piece }
            #expect(read == old)
        },
        Self(.reading, "replayable content returns the same bytes twice") {
            test async throws in
            try await test.put("hello", at: "a")
            let content = try await test.files.open("a").content
            guard content.isReplayable else { return }
            #expect(try await content.collect(upTo: 5) == content.collect(upTo: 5))
        },
    ]

    package static let ranges: [Self] = [
        Self(.ranges, "the beginning, middle and end of a file can be read") {
            test async throws in
            try await test.put("0123456789", at: "a")
            let parts: [(FileRange, String)] = [
                (.all, "0123456789"), (.bytes(0, count: 3), "012"), (.bytes(4, count: 2), "45"),
                (.from(7), "789"), (.last(2), "89"), (.bytes(9, count: 1), "9"),
            ]
            for (range, text) in parts {
                let data = try await test.files.read("a", range: range)
                #expect(String(decoding: data, as: UTF8.self) == text, "\(range)")
            }
        },
        Self(.ranges, "a range beyond the end stops at the end") { test async throws in
            try await test.put("0123", at: "a")
            #expect(try await test.files.read("a", range: .bytes(2, count: 99)).count == 2)
            #expect(try await test.files.read("a", range: .last(99)).count == 4)
            #expect(try await test.files.read("a", range: .bytes(1, count: .max)).count == 3)
        },
        Self(.ranges, "a range starting at the end is empty, one past it is rejected") {
            test async throws in
            try await test.put("0123", at: "a")
            #expect(try await test.files.read("a", range: .from(4)).isEmpty)
            let behind = await test.code { _ = try await test.files.read("a", range: .from(5)) }
            #expect(behind == .rangeNotSatisfiable)
        },
        Self(.ranges, "ranges of an empty file are empty") { test async throws in
            try await test.put("", at: "a")
            #expect(try await test.files.read("a", range: .last(3)).isEmpty)
            #expect(try await test.files.read("a", range: .from(0)).isEmpty)
        },
        Self(.ranges, "negative numbers are rejected") { test async throws in
            try await test.put("0123", at: "a")
            for range in [
                FileRange.from(-1), .bytes(0, count: -1), .last(-1), .bytes(-1, count: 2),
            ] {
                let code = await test.code { _ = try await test.files.read("a", range: range) }
                #expect(code == .invalidArgument, "\(range)")
            }
        },
        Self(.ranges, "a partial read returns the metadata of the whole file") {
            test async throws in
            try await test.put("0123456789", at: "a")
            let reading = try await test.files.open("a", range: .bytes(3, count: 4))
            #expect(reading.metadata.size == 10)
            #expect(reading.range == 3..<7)
            #expect(reading.content.length.map { $0 == 4 } ?? true)
        },
    ]
}

import Foundation
import KeelFiles
import Testing

extension FileStoreCheck {
    package static let transfers: [Self] = [
        Self(.transfers, "a copy is an independent file with the same bytes") {
            test async throws in
            try await test.put("x", at: "a.txt")
            let copy = try await test.files.copy("a.txt", to: "b/c.txt")
            #expect(copy.path == "b/c.txt")
            #expect(try await test.text("b/c.txt") == "x")
            #expect(try await test.text("a.txt") == "x")
            try await test.put("y", at: "a.txt")
            #expect(try await test.text("b/c.txt") == "x")
        },
        Self(.transfers, "copies and moves keep the type and attributes", needs: .attributes) {
            test async throws in
            let options = FileWriteOptions(contentType: "text/x-a", attributes: ["one": "1"])
            try await test.put("x", at: "a", options)
            for metadata in [
                try await test.files.copy("a", to: "b"), try await test.files.move("a", to: "c"),
                try await test.files.metadata(of: "c"),
            ] {
                #expect(metadata.contentType == "text/x-a")
                #expect(metadata.attributes == ["one": "1"])
            }
        },
        Self(.transfers, "a move leaves nothing at the old path") { test async throws in
            try await test.put("x", at: "a/b")
            let moved = try await test.files.move("a/b", to: "c/d/e")
            #expect(moved.path == "c/d/e")
            #expect(try await test.paths() == ["c/d/e"])
            #expect(try await test.text("c/d/e") == "x")
        },
        Self(.transfers, "copies and moves replace the file at the target") { test async throws in
            try await test.put("1", at: "a")
            let old = try await test.put("2", at: "b").version
            #expect(try await test.files.copy("a", to: "b").version != old)
            #expect(try await test.text("b") == "1")
            try await test.put("3", at: "a")
            try await test.files.move("a", to: "b")
            #expect(try await test.text("b") == "3")
        },
        Self(
            .transfers,
            "a copy or move that replaces a file gives it a new version",
            needs: .distinctVersions
        ) {
            test async throws in
            try await test.put("1", at: "a")
            let old = try await test.put("2", at: "b").version
            let first = try await test.files.copy("a", to: "b").version
            let second = try await test.files.move("a", to: "b").version
            #expect(Set([old, first, second]).count == 3)
            #expect(try await test.text("b") == "1")
        },
        Self(.transfers, "copying or moving an absent file fails") { test async throws in
            try await test.put("x", at: "b")
            #expect(await test.code { try await test.files.copy("a", to: "b") } == .fileNotFound)
            #expect(await test.code { try await test.files.move("a", to: "b") } == .fileNotFound)
            #expect(try await test.text("b") == "x")
        },
        Self(.transfers, "conditions apply to the target") { test async throws in
            try await test.put("1", at: "a")
            let version = try await test.put("2", at: "b").version
            let code = await test.code { try await test.files.copy("a", to: "b", if: .absent) }
            #expect(code == .conditionFailed)
            let moved = await test.code { try await test.files.move("a", to: "b", if: .absent) }
            #expect(moved == .conditionFailed)
            #expect(try await test.text("b") == "2")
            try await test.files.move("a", to: "b", if: .version(version))
            #expect(try await test.text("b") == "1")
        },
        Self(.transfers, "a file can be copied or moved to its own path") { test async throws in
            try await test.put("x", at: "a")
            try await test.files.move("a", to: "a")
            try await test.files.copy("a", to: "a")
            #expect(try await test.text("a") == "x")
        },
        Self(.transfers, "a copy or move into itself is rejected", needs: .eitherFileOrFolder) {
            test async throws in
            try await test.put("x", at: "a")
            try await test.put("y", at: "c/d")
            #expect(await test.code { try await test.files.copy("a", to: "a/b") } == .pathTaken)
            #expect(await test.code { try await test.files.move("a", to: "a/b") } == .pathTaken)
            #expect(await test.code { try await test.files.move("c/d", to: "c") } == .pathTaken)
            #expect(try await test.paths() == ["a", "c/d"])
        },
    ]

    package static let removal: [Self] = [
        Self(.removal, "a deleted file is gone") { test async throws in
            try await test.put("x", at: "a/b")
            #expect(try await test.files.delete("a/b"))
            #expect(try await test.files.exists("a/b") == false)
            #expect(try await test.paths().isEmpty)
        },
        Self(.removal, "deleting an absent file succeeds and returns false") { test async throws in
            #expect(try await test.files.delete("a") == false)
            #expect(try await test.files.delete("a/b/c") == false)
        },
        Self(.removal, "deleting a file does not delete a folder") { test async throws in
            try await test.put("x", at: "a/b")
            #expect(try await test.files.delete("a") == false)
            #expect(try await test.text("a/b") == "x")
        },
        Self(.removal, "a file can take the name of an emptied folder") {
            test async throws in
            try await test.put("x", at: "a/b/c")
            try await test.files.delete("a/b/c")
            try await test.put("y", at: "a")
            #expect(try await test.text("a") == "y")
        },
        Self(.removal, "deleting a folder deletes all of its files and no others") {
            test async throws in
            for path in ["a/1", "a/b/2", "ab/3", "b"] as [FileStorePath] {
                try await test.put("x", at: path)
            }
            #expect(try await test.files.deleteAll(in: "a") == 2)
            #expect(try await test.paths() == ["ab/3", "b"])
        },
    ]

    package static let paths: [Self] = [
        Self(.paths, "unusual names are kept") { test async throws in
            let names = [
                "with space", "ümläut", "日本語", "emoji 🦊", "a%2Fb", "a+b&c=d", "-dash", "~", "#?*",
                ".hidden", "...", "trailing.", "quote\"'", "back\\slash", "new\nline", "tab\t",
                "a:b", "\u{301}accent/\u{301}behind", String(repeating: "n", count: 255),
            ]
            let paths = try names.map { try FileStorePath("f/" + $0) }
            for path in paths { try await test.put(path.string, at: path) }
            // Paths are compared by their bytes, strings are not.
            let listed = try await test.paths().map { try FileStorePath($0) }
            #expect(listed == paths.sorted())
            for path in paths { #expect(try await test.text(path) == path.string) }
        },
        Self(.paths, "the longest path is kept") { test async throws in
            let name = String(repeating: "n", count: 127)
            let path = try FileStorePath((0..<8).map { _ in name }.joined(separator: "/"))
            try await test.put("x", at: path)
            #expect(try await test.text(path) == "x")
        },
        Self(.paths, "names are case-sensitive", needs: .distinguishesCase) {
            test async throws in
            try await test.put("1", at: "a")
            try await test.put("2", at: "A")
            #expect(try await test.text("a") == "1")
        },
        Self(
            .paths,
            "composed and decomposed characters form different paths",
            needs: .distinguishesCase
        ) {
            test async throws in
            try await test.put("1", at: "caf\u{E9}")
            try await test.put("2", at: "cafe\u{301}")
            #expect(try await test.text("caf\u{E9}") == "1")
            #expect(try await test.paths().count == 2)
        },
        Self(.paths, "every call rejects an invalid path") { test async throws in
            let flawed: [FileStorePath] = [
                "", "/a", "a/", "a//b", ".", "..", "a/../b", "../a", "a/./b", "a\0b", "\("x/y")",
                ".keel-files", ".keel-files/a",
            ]
            for path in flawed {
                let codes = [
                    await test.code { try await test.put("x", at: path) },
                    await test.code { _ = try await test.files.read(path) },
                    await test.code { _ = try await test.files.exists(path) },
                    await test.code { try await test.files.delete(path) },
                    await test.code { try await test.files.move("a", to: path) },
                ]
                #expect(codes.allSatisfy { $0 == .invalidPath }, "\(path.string)")
            }
            #expect(try await test.paths().isEmpty)
        },
    ]
}

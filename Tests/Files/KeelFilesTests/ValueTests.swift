import Foundation
import KeelFiles
import KeelTestSupport
import Testing

@Suite("File paths, ranges and checksums")
struct ValueTests {
    @Test("A path has names, a folder and an extension")
    func parts() throws {
        let path: FileStorePath = "photos/2026/a.b.JPG"
        #expect(path.names == ["photos", "2026", "a.b.JPG"])
        #expect(path.name == "a.b.JPG")
        #expect(path.folder == "photos/2026")
        #expect(path.fileExtension == "jpg")
        #expect((".profile" as FileStorePath).fileExtension == "")
        #expect(("a" as FileStorePath).folder == .root)
        #expect(try ("a/b" as FileStoreFolder).file("c/d") == "a/b/c/d")
        #expect(("" as FileStoreFolder) == .root)
        #expect(("a" as FileStoreFolder).contains("a/b"))
        #expect(!("a" as FileStoreFolder).contains("ab"))
    }

    @Test(
        "An invalid path is rejected with its reason",
        arguments: [
            ("", "empty"), ("/a", "empty"), ("a//b", "empty"), ("..", "not allowed"),
            ("a/../b", "not allowed"), ("a\0", "zero byte"),
            (".keel-files/x", "reserved for the store"),
            (String(repeating: "x", count: 256), "255"),
            (String(repeating: "x/", count: 600), "1024"),
        ]
    )
    func flaws(_ text: String, _ reason: String) {
        let error = expectError(FileStoreError.self, .invalidPath) { try FileStorePath(text) }
        #expect(error?.message.contains(reason) == true, "\(error.map { "\($0)" } ?? "")")
    }

    @Test("Paths are compared by their bytes")
    func bytes() {
        let (one, other): (FileStorePath, FileStorePath) = ("caf\u{E9}", "cafe\u{301}")
        #expect(one != other)
        #expect(Set([one, other]).count == 2)
        #expect(("a.b" as FileStorePath) < "a/b")
    }

    @Test("A path survives coding, and an invalid path does not decode")
    func coding() throws {
        let path: FileStorePath = "a/ü.txt"
        let data = try JSONEncoder().encode([path])
        #expect(try JSONDecoder().decode([FileStorePath].self, from: data) == [path])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([FileStorePath].self, from: Data(#"["../a"]"#.utf8))
        }
    }

    @Test("Checksums match their standards")
    func checksums() throws {
        // RFC 3720, B.4, and the example “abc” of FIPS 180-4.
        let zeros = [UInt8](repeating: 0, count: 32)
        #expect(try FileChecksum.of(zeros, by: .crc32c).description == "crc32c:8a9136aa")
        #if Crypto
        let sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        #expect(try FileChecksum.of(Array("abc".utf8)).description == "sha256:\(sum)")
        #endif
        #expect(throws: FileStoreError.self) { try FileChecksum(.sha256, bytes: [1]) }
    }

    @Test("Every code has advice and a unique name")
    func codes() {
        let names = FileStoreError.Code.known.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(FileStoreError.Code.known.allSatisfy { $0.advice.count > 10 })
    }
}

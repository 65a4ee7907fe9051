import KeelCore
import Testing

@testable import KeelHTTPTransfers

@Suite("Names of a transfer's companions")
struct TransferNamesTests {
    @Test(
        "A companion of a file with a long name has a name of at most 255 bytes",
        arguments: ["👨‍👩‍👧‍👦", "🦊", "ü", "a", "e\u{301}\u{302}\u{303}\u{304}"]
    )
    func longNames(character: String) throws {
        let count = 255 / character.utf8.count
        let name = String(repeating: character, count: count)
        let other = String(repeating: character, count: count - 1) + "b"
        let companions = [name, other].map { name in
            TransferNames(path: "/disk/" + name).companion("01234567.upload-piece")
        }
        for companion in companions {
            let last = try #require(companion.split(separator: "/").last)
            #expect(last.utf8.count <= 255)
        }
        #expect(companions[0] != companions[1])
    }

    @Test("A companion is beside its file, also if the file's name begins with a combining mark")
    func combiningMark() {
        let names = TransferNames(path: "/disk/\u{301}a")
        #expect(names.folder == "/disk")
        #expect(names.companion("upload") == "/disk/.keel-\u{301}a.upload")
        let notes = UploadNotes(names, folder: "/records", purpose: "test", DiskFileSystem())
        #expect(notes.piecePath.hasPrefix("/records/.keel-"))
        #expect(notes.piecePath.utf8.count { $0 == UInt8(ascii: "/") } == 2)
    }
}

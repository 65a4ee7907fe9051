import Foundation
import Keel
import Testing

@Suite("Coverage: files")
struct CoverageFileExamples {
    @Test("Row 12, files")
    func files() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "keel-coverage-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let jpeg = Data([0xFF, 0xD8])
        let files = FileStore(try LocalFileStoreAdapter(folder: folder.path))
        let photo = try await files.write(jpeg, to: "photos/7.jpg")
        #expect(photo.contentType == "image/jpeg")
        try await files.copy("photos/7.jpg", to: "covers/7.jpg", if: .absent)
        #expect(try await files.read("covers/7.jpg") == jpeg)
    }

    @Test("Row 12, encrypted files")
    func encrypted() async throws {
        let share = InMemoryFileStoreAdapter()
        let streams = try StreamingEncryption(keyset: .make(.aes256GCMHKDF4KB))
        let files = FileStore(try share.encrypted(with: streams))
        try await files.write(Data("Dear diary".utf8), to: "diary.txt")
        #expect(try await files.read("diary.txt", range: .last(5)) == Data("diary".utf8))
        let kept = try await FileStore(share).read("diary.txt")
        #expect(kept.range(of: Data("diary".utf8)) == nil)
    }
}

import KeelCore

struct UploadSource: Codable, Hashable, Sendable {
    var size: Int64
    /// When the file was last modified, in microseconds since 1970; nil if unknown.
    var modified: Int64?
    /// The CRC-32C of the first bytes, at most ``sampleLength``.
    var sample: UInt32

    static let sampleLength: Int64 = 1 << 20

    init(_ path: String, _ files: any FileSystem) throws(FileSystemError) {
        let file = try files.open(path, for: .reading)
        size = Int64(try file.size())
        modified = try file.modificationTime()
        sample = CRC32C.checksum(try file.read(at: 0, count: Int(min(size, Self.sampleLength))))
    }

    func fits(_ file: any OpenFile) throws(FileSystemError) -> Bool {
        let (size, modified) = (try file.size(), try file.modificationTime())
        return Int64(size) == self.size && modified == self.modified
    }
}

/// The record of an upload, without the number of bytes that have arrived, which only the server knows.
struct UploadRecord: Codable, Hashable, Sendable {
    var dialect: String
    /// The location of the upload, with which anyone can add to it.
    var location: String
    var source: UploadSource
    /// Whether the last bytes may have been sent, so that the server may have finished the upload.
    var mayBeComplete = false
    /// When the server forgets the upload, as it wrote it.
    var expires: String?
    var maximumPiece: Int64?
    /// The smallest piece that the server accepts, except for the last.
    var minimumPiece: Int64?

    static let kind = "KEELUPL1"
}

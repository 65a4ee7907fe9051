import KeelCore

/// What a file to send was when its upload began.
struct UploadSource: Codable, Hashable, Sendable {
    /// Its length.
    var size: Int64
    /// When it was last changed, in microseconds since 1970; nil where that is not known.
    var modified: Int64?
    /// The CRC-32C of its first bytes.
    var sample: UInt32

    static let sampleLength = 1 << 20

    /// Looks at a file.
    init(_ path: String, _ files: any FileSystem) throws(FileSystemError) {
        let file = try files.open(path, for: .reading)
        size = Int64(try file.size())
        modified = try file.modificationTime()
        sample = CRC32C.checksum(try file.read(at: 0, count: Int(min(size, 1 << 20))))
    }

    init(size: Int64, modified: Int64?, sample: UInt32) {
        self.size = size
        self.modified = modified
        self.sample = sample
    }

    /// Whether an open file still has the length and the date.
    func fits(_ file: any OpenFile) throws(FileSystemError) -> Bool {
        let (size, modified) = (try file.size(), try file.modificationTime())
        return Int64(size) == self.size && modified == self.modified
    }
}

/// What is noted about an upload.
///
/// How many bytes have arrived is not: the server knows it, and is asked.
struct UploadRecord: Codable, Hashable, Sendable {
    /// The name of the protocol.
    var dialect: String
    /// Where the upload is.
    ///
    /// Who knows it may add to the upload, so only the user may read the file.
    var location: String
    /// What the file was.
    var source: UploadSource
    /// Whether the last bytes may have been sent: from then on the server may be done with it.
    var mayBeComplete = false
    /// When the server forgets the upload, as it wrote it.
    var expires: String?
    /// The largest piece that the server takes.
    var maximumPiece: Int64?
    /// The smallest piece that the server takes, but for the last.
    var minimumPiece: Int64?

    static let kind = "KEELUPL1"
}

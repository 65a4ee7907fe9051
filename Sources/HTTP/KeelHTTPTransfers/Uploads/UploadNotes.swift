import HTTPTypes
import KeelCore
import KeelHTTP
import Synchronization

/// The record of an upload, and its lock.
///
/// Calls block; the transfer makes them serially on its queue.
final class UploadNotes: Sendable {
    private let files: any FileSystem
    private let folder: String
    private let path: String
    private let newPath: String
    private let lockPath: String
    /// The path of a file with one piece, which a background session sends.
    let piecePath: String
    private let lock = Mutex<(any FileLock)?>(nil)

    /// `folder` is that of the record, nil for the file's own; `purpose` distinguishes uploads of one file.
    init(
        _ names: TransferNames,
        folder: String?,
        purpose: String,
        _ files: any FileSystem
    ) {
        self.files = files
        let mark = String(CRC32C.checksum(Array(purpose.utf8)), radix: 16)
        var place = names
        if let folder {
            // Files of the same name from several folders may have their records in one folder.
            let origin = String(CRC32C.checksum(Array(names.file.utf8)), radix: 16)
            let name = names.file.utf8.split(separator: UInt8(ascii: "/")).last
                .map { String(Substring($0)) }
            place = TransferNames(path: folder + "/" + origin + "-" + (name ?? "file"))
        }
        self.folder = place.folder
        path = place.companion("\(mark).upload")
        newPath = place.companion("\(mark).upload-new")
        lockPath = place.companion("\(mark).upload-lock")
        piecePath = place.companion("\(mark).upload-piece")
    }

    struct Found: Sendable {
        var record: UploadRecord?
        var isDamaged = false
    }

    func open() throws(FileSystemError) -> Found {
        let taken = try files.transferLock(lockPath)
        lock.withLock { $0 = taken }
        guard let bytes = try files.contents(of: path, upTo: 1 << 20) else { return Found() }
        let record = RecordFile.record(UploadRecord.self, in: bytes, kind: UploadRecord.kind)
        return Found(record: record, isDamaged: record == nil)
    }

    /// Replaces the record atomically and durably.
    func save(_ record: UploadRecord) throws(FileSystemError) {
        let bytes = RecordFile.bytes(of: record, kind: UploadRecord.kind)
        try files.replaceFile(path, by: newPath, with: bytes)
        try files.syncFolder(folder)
    }

    func forget() throws(FileSystemError) {
        try files.removeIfThere(path)
        try files.removeIfThere(newPath)
        try files.removeIfThere(piecePath)
    }

    /// Releases the lock, removing its file first while no one else can hold it.
    func unlock() throws(FileSystemError) {
        guard lock.withLock({ $0 != nil }) else { return }
        try files.removeIfThere(lockPath)
        lock.withLock { $0 = nil }
    }
}

extension UploadNotes {
    /// Returns a text that distinguishes the uploads of one file, without secrets: one file may be uploaded to several
    /// addresses at once, and the location of another user's upload would often suffice to add to it.
    static func purpose(
        _ kind: ResumableUploadProtocol,
        _ head: HTTPRequest,
        for user: String?
    ) -> String {
        var purpose = "\(kind) \(head.redactedURL)"
        let query = (head.path ?? "").drop { $0 != "?" }.dropFirst().split(separator: "&")
            .filter { !isSignature($0.prefix { $0 != "=" }.lowercased()) }
        if !query.isEmpty {
            let text = query.joined(separator: "&")
            purpose += " ?" + String(CRC32C.checksum(Array(text.utf8)), radix: 16)
        }
        if let user {
            let digest = BLAKE2b.hash(Array(user.utf8), count: 16)
            purpose += " " + Hexadecimal.text(of: digest)
        }
        return purpose
    }

    /// Whether a parameter of a query belongs to the signature of an address, which is new in each run.
    private static func isSignature(_ name: String) -> Bool {
        name.hasPrefix("x-amz-") || name.hasPrefix("x-goog-") || signatureNames.contains(name)
    }

    private static let signatureNames: Set<String> = [
        "awsaccesskeyid", "expires", "googleaccessid", "key-pair-id", "policy", "signature",
    ]
}

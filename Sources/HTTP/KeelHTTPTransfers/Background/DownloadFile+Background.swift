#if canImport(Darwin)
import Foundation
import KeelCore

/// The system’s resume data of a download that was paused or has failed.
struct DownloadResumption: Codable, Sendable {
    var address: DownloadAddress
    var data: Data

    static let kind = "KEELRSM1"
    static let limit = 16 << 20
}

extension DownloadFile {
    convenience init(completing task: BackgroundTask) {
        self.init(
            TransferNames(path: task.path),
            DiskFileSystem(),
            shared: DiskFileSystem(permissions: 0o666),
            expected: nil
        )
    }

    /// Moves a complete file to the place of the part.
    ///
    /// `isLocked` says whether a run of this process holds the lock.
    func adopt(
        _ location: URL,
        _ record: DownloadRecord,
        isLocked: Bool
    ) throws(TransferError) {
        do throws(FileSystemError) {
            if !isLocked { _ = try open() }
            defer { if !isLocked { try? unlock() } }
            try discard()
            do throws(FileSystemError) {
                try files.rename(location.path(percentEncoded: false), to: partPath)
            } catch {
                // The part may be on another volume.
                let place = URL(filePath: partPath)
                guard error.kind == .other,
                    (try? FileManager.default.moveItem(at: location, to: place)) != nil
                else { throw error }
            }
            let part = try files.open(partPath, for: .writing)
            let size = Int64(try part.size())
            try part.sync()
            var record = record
            record.total = size
            try note(record, durable: size)
        } catch {
            throw TransferError(error)
        }
    }

    func keep(_ resumption: DownloadResumption) throws(FileSystemError) {
        try files.replaceFile(
            resumePath,
            by: names.companion("resume-new"),
            with: RecordFile.bytes(of: resumption, kind: DownloadResumption.kind)
        )
    }

    /// Removes and returns the system's resume data, which can be used once.
    func takeResumption() throws(FileSystemError) -> DownloadResumption? {
        let bytes = try files.contents(of: resumePath, upTo: DownloadResumption.limit)
        try files.removeIfThere(resumePath)
        return bytes.flatMap { bytes in
            RecordFile.record(DownloadResumption.self, in: bytes, kind: DownloadResumption.kind)
        }
    }
}
#endif

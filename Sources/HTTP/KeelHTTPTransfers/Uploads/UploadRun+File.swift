import KeelCore
import KeelHTTP

extension UploadRun {
    func content(_ piece: UploadPiece, _ source: UploadSource) -> HTTPBody {
        guard piece.count > 0 else { return HTTPBody([]) }
        let (path, files, queue) = (path, upload.files, queue)
        return HTTPBody(length: piece.count, isReplayable: true) {
            () async throws(TransportError) in
            let reader = PieceReader(path, files, piece, source, queue)
            return HTTPByteStream { () async throws(TransportError) in try await reader.next() }
        }
    }

    func digest(
        _ piece: UploadPiece,
        _ checksum: ResumableUpload.PieceChecksum
    ) async throws(TransferError) -> [UInt8] {
        do throws(FileSystemError) {
            return try await queue.run { [path, upload] () throws(FileSystemError) in
                let file = try upload.files.open(path, for: .reading)
                var digest = checksum.make()
                var offset = piece.offset
                while offset < piece.end {
                    let count = Int(min(piece.end - offset, 1 << 20))
                    let bytes = try file.read(at: Int(offset), count: count)
                    guard !bytes.isEmpty else { break }
                    bytes.withUnsafeBytes { digest.update($0) }
                    offset += Int64(bytes.count)
                }
                return digest.finish()
            }
        } catch {
            throw TransferError(error, source: true)
        }
    }
}

/// The check of a received file against its announced length and checksum.
package enum FileIntegrityCheck {
    /// Throws `checksumMismatch` if the length or the checksum differs.
    package static func check(
        _ count: Int,
        _ checksum: FileChecksum,
        of content: FileContent,
        _ options: FileWriteOptions,
        _ path: FileStorePath
    ) throws(FileStoreError) {
        if let length = content.length, length != count {
            throw FileStoreError(
                .checksumMismatch,
                "“\(path)” was announced with \(length) bytes, but \(count) arrived."
            )
        }
        if let expected = options.checksum, expected != checksum {
            throw FileStoreError(
                .checksumMismatch,
                "The bytes for “\(path)” have the checksum \(checksum), not \(expected)."
            )
        }
    }
}

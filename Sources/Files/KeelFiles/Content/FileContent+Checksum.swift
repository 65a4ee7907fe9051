extension FileContent {
    /// Reads the whole content and returns its checksum.
    ///
    /// The bytes are read piece by piece, so a content of any size needs little memory.
    ///
    /// - Throws: ``FileStoreError``: the error of reading, or `unsupported` if the algorithm is not available.
    public func checksum(
        by algorithm: FileChecksum.Algorithm = .crc32c
    ) async throws(FileStoreError) -> FileChecksum {
        var hash = try FileHash(algorithm)
        let reader = try await open()
        while let piece = try await reader.next() { hash.update(piece) }
        return hash.checksum
    }
}

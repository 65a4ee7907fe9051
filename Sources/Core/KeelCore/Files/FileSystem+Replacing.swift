extension FileSystem {
    /// Writes a temporary file and renames it over another one.
    ///
    /// - Parameters:
    ///   - path: The file to replace.
    ///   - newPath: The temporary file; remains of a crash are removed.
    ///   - bytes: The bytes.
    /// - Throws: `FileSystemError`; the replaced file is then unchanged.
    package func replaceFile(
        _ path: String,
        by newPath: String,
        with bytes: [UInt8]
    ) throws(FileSystemError) {
        do throws(FileSystemError) {
            try remove(newPath)
        } catch {
            guard error.kind == .notFound else { throw error }
        }
        let file = try open(newPath, for: .creating)
        try file.write(bytes, at: 0)
        try file.sync()
        try rename(newPath, to: path)
    }
}

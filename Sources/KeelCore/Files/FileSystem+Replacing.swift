extension FileSystem {
    /// Writes a file beside another and gives it the other's name in one step.
    ///
    /// - Parameters:
    ///   - path: The file that is replaced.
    ///   - newPath: The file that is written first; what a crash left of it is removed.
    ///   - bytes: The bytes.
    /// - Throws: `FileSystemError`; the other file is then as it was.
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

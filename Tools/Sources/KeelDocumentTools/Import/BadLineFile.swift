internal import Foundation
internal import KeelToolSupport

/// A file that collects the rejected elements of an import in their original form.
struct BadLineFile {
    private let handle: FileHandle
    private let source: FileHandle
    private(set) var length: UInt64

    /// Opens the file and truncates it to `length`: the import finds the elements after it again.
    ///
    /// - Throws: An error if the file cannot be written, or is shorter than `length`.
    init(_ file: URL, source: URL, length: UInt64) throws {
        try SpecialFile.refuseWriting(file.path, advice: "Name a file for the bad lines.")
        if !FileManager.default.fileExists(atPath: file.path) {
            guard FileManager.default.createFile(atPath: file.path, contents: nil) else {
                throw ToolError(
                    "“\(file.path)” cannot be created",
                    advice: "Name a file in a folder that you may write to."
                )
            }
        }
        handle = try FileHandle(forUpdating: file)
        let present = try handle.seekToEnd()
        guard present >= length else {
            throw ToolError(
                "“\(file.path)” lacks bad lines that the import to be resumed has saved there",
                advice: "Put the file back, or leave out --resume to import from the beginning."
            )
        }
        self.length = length
        try handle.truncate(atOffset: length)
        self.source = try FileHandle(forReadingFrom: source)
    }

    /// Appends a range of the imported file, and a line break.
    mutating func keep(_ range: Range<Int>) throws {
        guard !range.isEmpty else { return }
        try source.seek(toOffset: UInt64(range.lowerBound))
        var left = range.count
        while left > 0, let piece = try source.read(upToCount: min(left, 1 << 18)), !piece.isEmpty {
            try handle.write(contentsOf: piece)
            left -= piece.count
        }
        try handle.write(contentsOf: [UInt8(ascii: "\n")])
        length = try handle.offset()
    }
}

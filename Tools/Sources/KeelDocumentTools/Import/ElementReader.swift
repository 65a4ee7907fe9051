package import Foundation

/// Reads a file of any size element by element, with one element in memory.
///
/// An element is a line, or an element of the file's only array. Those of an array are separated by counting brackets
/// outside strings: an invalid one affects others only if its brackets or quotation marks do not match.
package struct ElementReader {
    package enum Container: String, Codable, Sendable {
        case lines
        case array
    }

    /// The maximum size of an element in bytes.
    ///
    /// A document of 1 MiB is shorter in either form.
    package static let longest = 32 << 20

    let container: Container
    var state: ArrayState
    private let handle: FileHandle
    private var buffer: [UInt8] = []
    /// The offset of the buffer in the file.
    private var base: Int
    /// The index of the next byte in the buffer.
    private var position = 0
    private(set) var number: Int

    /// Opens a file at its beginning, or at the end of the element `number`.
    ///
    /// - Throws: An error if the file cannot be opened.
    package init(
        _ file: URL,
        container: Container,
        from offset: Int = 0,
        number: Int = 0
    ) throws {
        self.container = container
        self.number = number
        handle = try FileHandle(forReadingFrom: file)
        try handle.seek(toOffset: UInt64(offset))
        base = offset
        state = offset == 0 ? .beforeArray : .afterElement
        // Some editors start UTF-8 files with a byte order mark.
        if offset == 0, try fill(), buffer.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    /// The offset of the next byte in the file.
    package var offset: Int { base + position }

    /// Returns the next element; nil at the end of the file.
    ///
    /// - Throws: An error if the file cannot be read.
    package mutating func next() throws -> ImportElement? {
        container == .lines ? try nextLine() : try nextOfArray()
    }

    private mutating func nextLine() throws -> ImportElement? {
        while try peek() != nil {
            number += 1
            let element = try element { byte in byte == UInt8(ascii: "\n") }
            if try peek() != nil { position += 1 }
            if element.flaw != nil || !element.text.isEmpty { return element }
        }
        return nil
    }

    // MARK: Bytes

    mutating func peek() throws -> UInt8? {
        if position == buffer.count, try !fill() { return nil }
        return buffer[position]
    }

    mutating func skip() { position += 1 }

    mutating func countElement() { number += 1 }

    /// Returns the text up to the first byte for which `isEnd` returns true, or to the end of the file.
    mutating func element(until isEnd: (UInt8) -> Bool) throws -> ImportElement {
        let start = offset
        var length = 0
        var isTooLong = false
        scan: while true {
            while position + length < buffer.count {
                if isEnd(buffer[position + length]) { break scan }
                length += 1
            }
            if length > Self.longest {
                isTooLong = true
                position += length
                length = 0
            }
            guard try fill() else { break }
        }
        let text = buffer[position..<position + length]
        position += length
        let end = offset
        guard !isTooLong else {
            return flawed("is longer than \(Self.longest) bytes", in: start..<end)
        }
        return ImportElement(
            number: number,
            range: start..<end,
            text: Array(text.trimmed),
            flaw: nil
        )
    }

    func flawed(_ flaw: String, in range: Range<Int>) -> ImportElement {
        ImportElement(number: number, range: range, text: [], flaw: flaw)
    }

    /// Appends a piece of the file to the buffer, and drops the consumed bytes; returns false at the end of the file.
    private mutating func fill() throws -> Bool {
        buffer.removeSubrange(..<position)
        base += position
        position = 0
        guard let piece = try handle.read(upToCount: 1 << 18), !piece.isEmpty else { return false }
        buffer += piece
        return true
    }
}

extension ArraySlice<UInt8> {
    /// Returns the bytes without JSON white space at both ends.
    fileprivate var trimmed: ArraySlice<UInt8> {
        guard let first = firstIndex(where: { !$0.isJSONSpace }),
            let last = lastIndex(where: { !$0.isJSONSpace })
        else { return [] }
        return self[first...last]
    }
}

extension UInt8 {
    /// Whether the byte is white space in JSON (RFC 8259, section 2).
    var isJSONSpace: Bool { self == 0x20 || (0x09...0x0A).contains(self) || self == 0x0D }
}

/// A line of a file, or an element of its array.
package struct ImportElement: Sendable {
    /// The number of the line, or the position in the array, starting at 1.
    package let number: Int
    /// The range in the file in bytes.
    package let range: Range<Int>
    /// The text without surrounding white space; empty if ``flaw`` is set.
    package let text: [UInt8]
    /// The reason why the text was not read; nil otherwise.
    package let flaw: String?
}

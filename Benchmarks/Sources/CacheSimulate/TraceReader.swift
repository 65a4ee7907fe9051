internal import CacheSimulation
internal import Foundation

/// An incremental parser of traces.
struct TraceReader {
    /// The maximum length of a text line in bytes.
    private static let longestLine = 1 << 20
    /// The maximum number of blocks in a line of an ARC trace; more indicate another format.
    private static let mostBlocks: UInt64 = 1 << 24

    private let format: TraceFormat
    private var trace: Trace
    /// The beginning of an incomplete number or line.
    private var rest: [UInt8] = []
    private var lineNumber = 0

    /// Reads a whole trace, with at least one request, from a file or `-`.
    static func read(_ path: String, _ format: TraceFormat) throws -> Trace {
        let name = path == "-" ? "standard input" : path.split(separator: "/").last.map(String.init)
        var reader = TraceReader(format: format, name: name ?? path)
        try TraceBytes.forEachPiece(of: path) { try reader.take($0) }
        return try reader.finish()
    }

    private init(format: TraceFormat, name: String) {
        self.format = format
        trace = Trace(name: name)
    }

    private mutating func take(_ piece: Data) throws {
        switch format {
        case .u32be: try takeNumbers(piece, width: 4) { $0 }
        case .u64be: try takeNumbers(piece, width: 8) { $0 }
        case .u64le: try takeNumbers(piece, width: 8) { $0.byteSwapped }
        case .text, .arc: try takeLines(piece)
        }
    }

    private mutating func finish() throws -> Trace {
        if format == .text || format == .arc {
            if !rest.isEmpty { try takeLine(rest[...]) }
        } else if !rest.isEmpty {
            throw TraceError(
                message: "the trace is cut: \(rest.count) bytes are left after the last number"
            )
        }
        guard !trace.keys.isEmpty else { throw TraceError(message: "the trace has no requests") }
        return trace
    }

    /// Reads numbers of `width` bytes, which are passed to `key` as big-endian integers.
    private mutating func takeNumbers(_ piece: Data, width: Int, key: (UInt64) -> UInt64) throws {
        for byte in piece {
            rest.append(byte)
            guard rest.count == width else { continue }
            var word: UInt64 = 0
            for byte in rest { word = word << 8 | UInt64(byte) }
            rest.removeAll(keepingCapacity: true)
            try append(key(word))
        }
    }

    private mutating func takeLines(_ piece: Data) throws {
        for byte in piece {
            if byte == UInt8(ascii: "\n") {
                try takeLine(rest[...])
                rest.removeAll(keepingCapacity: true)
            } else {
                rest.append(byte)
                guard rest.count <= Self.longestLine else {
                    throw TraceError(message: "line \(lineNumber + 1) is too long for a text")
                }
            }
        }
    }

    private mutating func takeLine(_ line: ArraySlice<UInt8>) throws {
        lineNumber += 1
        let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        guard !line.isEmpty else { return }
        if format == .text {
            guard !line.contains(0) else {
                throw TraceError(message: "line \(lineNumber) is not text")
            }
            return try append(Self.hash(line))
        }
        let words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard words.count >= 2, let start = UInt64(String(decoding: words[0], as: UTF8.self)),
            let count = UInt64(String(decoding: words[1], as: UTF8.self)),
            count <= Self.mostBlocks
        else {
            throw TraceError(message: "line \(lineNumber) is not \"start count …\"")
        }
        for block in 0..<count { try append(start &+ block) }
    }

    private mutating func append(_ key: UInt64) throws {
        guard trace.keys.count < Int(Int32.max) else {
            throw TraceError(message: "the trace has more than \(Int32.max) requests")
        }
        trace.append(key)
    }

    /// Returns the 64-bit FNV-1a hash: a collision among ten million keys has a probability of 1 to 370,000.
    private static func hash(_ line: ArraySlice<UInt8>) -> UInt64 {
        line.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }
}

enum TraceFormat: String, CaseIterable {
    case u32be
    case u64be
    case u64le
    case text
    case arc
}

/// The reason why a trace cannot be read.
struct TraceError: Error {
    let message: String
}

#if Logging

import Foundation
import KeelZlib
import Testing

/// Reads a log file as any reader of JSON and gzip would.
enum LoggedLines {
    private struct Line: Decodable { let message: String }

    static func message(_ line: [UInt8]) throws -> String {
        try JSONDecoder().decode(Line.self, from: Data(line)).message
    }

    /// The messages of files, all of whose lines must be complete.
    static func messages(_ files: [[UInt8]]) throws -> [String] {
        try files.flatMap { bytes in
            #expect(bytes.last == 0x0A || bytes.isEmpty)
            return try bytes.split(separator: 0x0A).map { try message(Array($0)) }
        }
    }

    struct NotGzip: Error {}

    /// Inflates a gzip file, which must be complete.
    static func inflated(_ bytes: [UInt8]) throws -> [UInt8] {
        let stream = InflateStream()
        try stream.open(.gzip)
        var (rest, output) = (bytes[...], [UInt8]())
        while true {
            let (piece, isAtEnd) = try stream.inflate(&rest, upTo: 64 << 10)
            output += piece
            if isAtEnd { break }
            guard !piece.isEmpty else { throw NotGzip() }
        }
        guard rest.isEmpty else { throw NotGzip() }
        return output
    }
}

#endif

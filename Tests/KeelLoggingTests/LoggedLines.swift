#if Logging

import Foundation
import KeelZlib
import Testing

/// Reads what a log file has, as somebody who knows only JSON and gzip.
enum LoggedLines {
    private struct Line: Decodable {
        let message: String
    }

    static func message(_ line: [UInt8]) throws -> String {
        try JSONDecoder().decode(Line.self, from: Data(line)).message
    }

    /// The messages of files, every line of which has to be whole.
    static func messages(_ files: [[UInt8]]) throws -> [String] {
        try files.flatMap { bytes in
            #expect(bytes.last == 0x0A || bytes.isEmpty)
            return try bytes.split(separator: 0x0A).map { try message(Array($0)) }
        }
    }

    struct NotGzip: Error {}

    /// What a gzip file holds, which has to be whole.
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

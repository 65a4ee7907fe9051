internal import KeelCore

struct MultipartEncoder {
    let form: MultipartForm

    init(_ form: MultipartForm) {
        self.form = form
    }

    /// The largest body to assemble in memory if all its parts are there; larger ones are streamed.
    private static let joinedSize: Int64 = 1 << 20

    /// The media type with the boundary, quoted only if RFC 9110 requires it.
    var contentType: String {
        let isToken = form.boundary.utf8.allSatisfy { !"'(),/:=? ".utf8.contains($0) }
        let boundary = isToken ? form.boundary : "\"\(form.boundary)\""
        return "multipart/form-data; boundary=\(boundary)"
    }

    func body(_ coding: any BodyCoding) throws -> HTTPBody {
        try checkBoundary()
        var sources: [HTTPBody] = []
        for part in form.parts {
            sources.append(HTTPBody(try head(of: part)))
            sources.append(try source(of: part, coding))
            sources.append(HTTPBody([0x0D, 0x0A]))
        }
        sources.append(HTTPBody(Array("--\(form.boundary)--\r\n".utf8)))
        return HTTPBody(joining: sources, inMemoryUpTo: Self.joinedSize)
    }

    private func source(of part: MultipartForm.Part, _ coding: any BodyCoding) throws -> HTTPBody {
        // A random boundary was chosen not to occur here.
        if form.isBoundaryGiven, let bytes = part.content.knownBytes {
            try checkAbsence(in: bytes, of: part)
        }
        switch part.content {
        case .bytes(let bytes):
            return HTTPBody(bytes)
        case .value(let encode):
            let bytes = try encode(coding)
            try checkAbsence(in: bytes, of: part)
            return HTTPBody(bytes)
        case .file(let url):
            return try HTTPBody.file(url)
        case .stream(let body):
            return body
        }
    }

    private func head(of part: MultipartForm.Part) throws -> [UInt8] {
        var head = "--\(form.boundary)\r\nContent-Disposition: form-data; "
        head += "name=\"\(Self.escape(Self.normalizingLines(part.name)))\""
        if let filename = part.filename { head += "; filename=\"\(Self.escape(filename))\"" }
        if let contentType = part.contentType {
            guard contentType.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
                throw MultipartFormError(
                    description: "The media type of the part '\(part.name)' contains "
                        + "control characters."
                )
            }
            head += "\r\nContent-Type: \(contentType)"
        }
        return Array((head + "\r\n\r\n").utf8)
    }

    /// Encodes the characters that would end a quoted name, as WHATWG HTML specifies.
    private static func escape(_ name: String) -> String {
        var escaped = ""
        for scalar in name.unicodeScalars {
            switch scalar {
            case "\"": escaped += "%22"
            case "\r": escaped += "%0D"
            case "\n": escaped += "%0A"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    private static func normalizingLines(_ name: String) -> String {
        var lines = String.UnicodeScalarView()
        var previous: Unicode.Scalar?
        for scalar in name.unicodeScalars {
            if scalar == "\n", previous != "\r" { lines.append("\r") }
            if previous == "\r", scalar != "\n" { lines.append("\n") }
            lines.append(scalar)
            previous = scalar
        }
        if previous == "\r" { lines.append("\n") }
        return String(lines)
    }
}

extension MultipartEncoder {
    private func checkBoundary() throws {
        let bytes = Array(form.boundary.utf8)
        let isValid =
            (1...70).contains(bytes.count) && bytes.last != 0x20
            && bytes.allSatisfy { $0.isASCIIAlphanumeric || "'()+_,-./:=? ".utf8.contains($0) }
        guard isValid else {
            throw MultipartFormError(description: "The boundary does not conform to RFC 2046.")
        }
    }

    private func checkAbsence(in bytes: [UInt8], of part: MultipartForm.Part) throws {
        guard Self.contains(form.boundary, in: bytes) else { return }
        throw MultipartFormError(
            description: "The boundary occurs in the contents of the part '\(part.name)'."
        )
    }

    /// Whether the bytes contain what a reader would take for the end of a part.
    static func contains(_ boundary: String, in bytes: [UInt8]) -> Bool {
        let delimiter = Array("--\(boundary)".utf8)
        guard bytes.count >= delimiter.count else { return false }
        return bytes.withUnsafeBufferPointer { bytes in
            var start = bytes.startIndex
            while let place = bytes[start...].firstIndex(of: UInt8(ascii: "-")) {
                if bytes[place...].starts(with: delimiter) { return true }
                start = place + 1
            }
            return false
        }
    }
}

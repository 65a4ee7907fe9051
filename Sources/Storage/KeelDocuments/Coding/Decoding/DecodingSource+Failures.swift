internal import KeelCBOR

extension DecodingSource {
    /// Returns the keys that lead to an offset, found by walking the bytes.
    func codingPath(to target: Int) -> [any CodingKey] {
        var path: [any CodingKey] = []
        var reader = reader(at: 0)
        // The path ends at the first damaged byte.
        try? walk(&reader, to: target, &path)
        return path
    }

    private func walk(
        _ reader: inout CBORReader,
        to target: Int,
        _ path: inout [any CodingKey]
    ) throws(CBORError) {
        while reader.position < target {
            let kind = try reader.peekKind()
            let count: Int
            switch kind {
            case .map: count = try reader.readMapHeader() ?? 0
            case .array: count = try reader.readArrayHeader() ?? 0
            default: return
            }
            var position = 0
            while position < count {
                var key = DocumentCodingKey(index: position)
                if kind == .map {
                    key = DocumentCodingKey(stringValue: keys.codingKey(try reader.readText()))
                }
                var end = reader
                try end.skip()
                if target < end.position {
                    path.append(key)
                    break
                }
                reader = end
                position += 1
            }
            if position == count { return }
        }
    }

    func kindName(at offset: Int) -> String {
        var reader = reader(at: offset)
        guard let kind = try? reader.peekKind() else { return "damaged bytes" }
        switch kind {
        case .null: return "null"
        case .boolean: return "a boolean"
        case .unsigned, .negative: return "an integer"
        case .float: return "a double"
        case .text: return "a string"
        case .bytes: return "bytes"
        case .array: return "an array"
        case .map: return "a map"
        case .tag:
            switch try? reader.readTag() {
            case BodyTag.time: return "a timestamp"
            case BodyTag.reference: return "a reference"
            case BodyTag.geopoint: return "a geopoint"
            case BodyTag.vector: return "a vector"
            default: return "a value of unknown kind"
            }
        default: return "a value of unknown kind"
        }
    }

    func failure(
        _ error: CBORError,
        at offset: Int,
        wanted: String,
        _ type: Any.Type
    ) -> DecodingError {
        if case .unexpected(_, let found) = error.kind,
            ![.break, .simple, .undefined].contains(found)
        {
            return mismatch(at: offset, wanted: wanted, type)
        }
        if case .integerOverflow = error.kind {
            return flaw("the integer does not fit Int64", at: offset)
        }
        let flaw = CodingFlaw(
            code: .corrupted,
            words: "the document’s bytes are damaged (\(error))"
        )
        return .dataCorrupted(context(flaw, at: offset))
    }

    /// Returns the error for a value of an unexpected kind.
    func mismatch(at offset: Int, wanted: String, _ type: Any.Type) -> DecodingError {
        let found = kindName(at: offset)
        let flaw = CodingFlaw(code: .decodingFailed, words: "expected \(wanted), found \(found)")
        let context = context(flaw, at: offset)
        return found == "null" ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    /// Returns the error for a value of the expected kind that is invalid.
    func flaw(_ words: String, at offset: Int) -> DecodingError {
        .dataCorrupted(context(CodingFlaw(code: .decodingFailed, words: words), at: offset))
    }

    func missing(_ key: any CodingKey, in offset: Int) -> DecodingError {
        let context = DecodingError.Context(
            codingPath: codingPath(to: offset),
            debugDescription: "the field is missing"
        )
        return .keyNotFound(key, context)
    }

    private func context(_ flaw: CodingFlaw, at offset: Int) -> DecodingError.Context {
        DecodingError.Context(
            codingPath: codingPath(to: offset),
            debugDescription: flaw.words,
            underlyingError: flaw
        )
    }
}

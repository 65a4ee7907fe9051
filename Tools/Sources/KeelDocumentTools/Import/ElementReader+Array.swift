extension ElementReader {
    enum ArrayState {
        case beforeArray
        case beforeElement
        case afterElement
        case done
    }

    mutating func nextOfArray() throws -> ImportElement? {
        while let byte = try peekBeyondSpace() {
            switch (state, byte) {
            case (.beforeArray, UInt8(ascii: "[")):
                skip()
                state = .beforeElement
            case (.beforeArray, _): return try rest("the file does not begin with an array")
            case (.beforeElement, UInt8(ascii: ",")):
                // The comma stays, so that reading can restart here as after any element.
                state = .afterElement
                countElement()
                return flawed("is missing between two commas", in: offset..<offset)
            case (.beforeElement, UInt8(ascii: "]")), (.afterElement, UInt8(ascii: "]")):
                skip()
                state = .done
            case (.beforeElement, _): return try arrayElement()
            case (.afterElement, UInt8(ascii: ",")):
                skip()
                state = .beforeElement
            case (.afterElement, _): return try rest("there is no comma before it")
            case (.done, _): return try rest("something follows the array")
            }
        }
        guard state != .done else { return nil }
        state = .done
        countElement()
        return flawed("the file ends within the array", in: offset..<offset)
    }

    private mutating func arrayElement() throws -> ImportElement {
        state = .afterElement
        countElement()
        var scanner = NestingScanner()
        return try element { scanner.isEnd($0) }
    }

    /// Returns the rest of the file as one rejected element.
    private mutating func rest(_ flaw: String) throws -> ImportElement {
        state = .done
        countElement()
        let start = offset
        _ = try element { _ in false }
        return flawed(flaw, in: start..<offset)
    }

    private mutating func peekBeyondSpace() throws -> UInt8? {
        while let byte = try peek() {
            guard byte.isJSONSpace else { return byte }
            skip()
        }
        return nil
    }
}

/// Finds the end of an array's element.
private struct NestingScanner {
    private var depth = 0
    private var isInString = false
    private var isEscaped = false

    init() {}

    mutating func isEnd(_ byte: UInt8) -> Bool {
        if isInString {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isInString = false
            }
            return false
        }
        switch byte {
        case UInt8(ascii: "\""): isInString = true
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "]") where depth == 0, UInt8(ascii: ",") where depth == 0: return true
        // A surplus bracket makes only this element invalid.
        case UInt8(ascii: "}"), UInt8(ascii: "]"): depth = max(0, depth - 1)
        default: break
        }
        return false
    }
}

internal import KeelCore

extension CBORItem: CustomStringConvertible {
    package var description: String { diagnostic }

    /// The item in diagnostic notation (RFC 8949 section 8), as in appendix A.
    ///
    /// Bignums of up to 64 bytes (section 3.4.3) are written as integers.
    package var diagnostic: String {
        var output = ""
        write(to: &output)
        return output
    }

    private func write(to output: inout String) {
        switch self {
        case .unsigned(let value): output += "\(value)"
        case .negative(let complement): output += Self.negative(Self.bigEndian(complement))
        case .bytes(let content): output += "h'\(Hexadecimal.text(of: content))'"
        case .text(let content): Self.quote(content, to: &output)
        case .array(let items):
            output += "["
            for (index, item) in items.enumerated() {
                if index > 0 { output += ", " }
                item.write(to: &output)
            }
            output += "]"
        case .map(let entries):
            output += "{"
            for (index, entry) in entries.enumerated() {
                if index > 0 { output += ", " }
                entry.key.write(to: &output)
                output += ": "
                entry.value.write(to: &output)
            }
            output += "}"
        case .tagged(2, .bytes(let content)) where content.count <= 64:
            output += Self.decimal(content)
        case .tagged(3, .bytes(let content)) where content.count <= 64:
            output += Self.negative(content)
        case .tagged(let number, let content):
            output += "\(number)("
            content.write(to: &output)
            output += ")"
        case .simple(let value): output += "simple(\(value))"
        case .boolean(let value): output += "\(value)"
        case .null: output += "null"
        case .undefined: output += "undefined"
        case .float(let value): output += Self.number(value)
        }
    }

    // MARK: Strings

    private static func quote(_ text: String, to output: inout String) {
        var bytes: [UInt8] = []
        JSONString.append(text, to: &bytes)
        output += String(decoding: bytes, as: UTF8.self)
    }

    // MARK: Numbers

    private static func bigEndian(_ value: UInt64) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }

    /// Returns the decimal digits of a big-endian magnitude.
    private static func decimal(_ magnitude: [UInt8]) -> String {
        var digits: [UInt8] = [0]
        for byte in magnitude {
            var carry = Int(byte)
            for index in digits.indices {
                carry += Int(digits[index]) * 256
                digits[index] = UInt8(carry % 10)
                carry /= 10
            }
            while carry > 0 {
                digits.append(UInt8(carry % 10))
                carry /= 10
            }
        }
        return String(decoding: digits.reversed().map { $0 + 0x30 }, as: UTF8.self)
    }

    /// Returns the decimal digits of −1 − n, for a big-endian n.
    private static func negative(_ complement: [UInt8]) -> String {
        var magnitude = [0] + complement
        for index in magnitude.indices.reversed() {
            magnitude[index] &+= 1
            if magnitude[index] != 0 { break }
        }
        return "-" + decimal(magnitude)
    }

    /// Returns a float in the form of appendix A.
    ///
    /// The form has the shortest digits, in the layout of ECMAScript, and always a point to distinguish it from an
    /// integer.
    private static func number(_ value: Double) -> String {
        guard value.isFinite else {
            return value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity"
        }
        let sign = value.sign == .minus ? "-" : ""
        let parts = value.magnitude.description.split(separator: "e")
        let mantissa = parts[0].split(separator: ".")
        let fraction = mantissa.count > 1 && mantissa[1] != "0" ? mantissa[1] : ""
        guard parts.count > 1, let exponent = Int(parts[1]) else {
            return sign + mantissa[0] + "." + (fraction.isEmpty ? "0" : fraction)
        }
        // Swift switches to exponents earlier than ECMAScript: below 10⁻⁴ and from 2⁵⁴.
        let digits = mantissa[0] + fraction
        if -7 < exponent, exponent < 0 {
            return sign + "0." + String(repeating: "0", count: -exponent - 1) + digits
        }
        if exponent >= 0, exponent < 21, exponent >= fraction.count {
            return sign + digits + String(repeating: "0", count: exponent - fraction.count) + ".0"
        }
        let point = fraction.isEmpty ? "0" : fraction
        return sign + mantissa[0] + "." + point + (exponent < 0 ? "e-" : "e+") + "\(abs(exponent))"
    }
}

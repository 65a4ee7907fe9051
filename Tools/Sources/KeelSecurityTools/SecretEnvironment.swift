internal import Foundation
package import KeelSecrets
internal import KeelToolSupport

/// Secrets as environment variables of a program.
package struct SecretEnvironment: Sendable {
    package struct Variable: Sendable, Hashable {
        package let name: String
        package let key: String

        /// Parses `NAME=key`.
        package init?(_ text: String) {
            guard let sign = text.firstIndex(of: "=") else { return nil }
            self.init(name: String(text[..<sign]), key: String(text[text.index(after: sign)...]))
        }

        /// Returns nil if the name is not one that shells accept, or the key is empty.
        package init?(name: String, key: String) {
            guard !key.isEmpty, let first = name.utf8.first, Self.isLetter(first),
                name.utf8.allSatisfy({ Self.isLetter($0) || Self.isDigit($0) })
            else { return nil }
            self.name = name
            self.key = key
        }

        /// Creates the variable for a key, in capitals and digits, with `_` for everything else; nil for a key that
        /// begins with a digit.
        package init?(for key: String) {
            self.init(
                name: String(
                    key.uppercased().map { letter in
                        letter.utf8.count == 1
                            && letter.utf8.allSatisfy { Self.isLetter($0) || Self.isDigit($0) }
                            ? letter : "_"
                    }
                ),
                key: key
            )
        }

        private static func isLetter(_ byte: UInt8) -> Bool {
            byte == UInt8(ascii: "_")
                || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        }

        private static func isDigit(_ byte: UInt8) -> Bool {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        }
    }

    private let values: [String: String]

    /// Reads the secrets of variables; if none are named, all of the service, into variables named after their keys.
    ///
    /// - Throws: `ToolError` for a key that no variable can be named after, for two secrets of one variable, and for a
    ///   secret that is not text; `SecretError`.
    package init(_ variables: [Variable], from secrets: SecretStore) async throws {
        var chosen = variables
        if chosen.isEmpty {
            for key in try await secrets.list() {
                guard let variable = Variable(for: key) else {
                    throw ToolError(
                        "the key “\(key)” is not a name of a variable",
                        advice: "Name the variables with --env NAME=key."
                    )
                }
                chosen.append(variable)
            }
        }
        var values: [String: String] = [:]
        for variable in chosen {
            guard values[variable.name] == nil else {
                throw ToolError(
                    "two secrets are for the variable \(variable.name)",
                    advice: "Name each variable once, with --env NAME=key."
                )
            }
            let secret = try await secrets.load(forKey: variable.key)
            guard let text = String(validating: secret, as: UTF8.self), !text.contains("\0") else {
                throw ToolError(
                    "the secret “\(variable.key)” is not text, and a variable holds text only",
                    advice: "Let the program read it with `keel secrets get`."
                )
            }
            values[variable.name] = text
        }
        self.values = values
    }

    /// Replaces this process with a program, searched for on the `PATH`, that gets the secrets but not the variables
    /// `keys`.
    ///
    /// - Throws: `ToolError` if the program cannot be started.
    package func become(_ command: [String], without keys: [String]) throws -> Never {
        for name in keys { unsetenv(name) }
        for (name, value) in values { setenv(name, value, 1) }
        let reason = ReplacementProgram.become(command)
        throw ToolError(
            "“\(command[0])” cannot be run: \(reason)",
            advice: "Give the path of a program, or the name of one on the PATH."
        )
    }
}

import Foundation

/// The branches of a file that are compiled only on Apple's systems or with stand-ins.
struct AppleBranches: Equatable {
    /// The stand-ins whose modules the file imports conditionally.
    var standIns: Set<String> = []
    /// Conditions for Apple's systems that are never true on Linux.
    var uncompiled: [String] = []

    /// Parses a file.
    ///
    /// - Parameters:
    ///   - text: The content of the file.
    ///   - standIns: The stand-ins that its module is compiled with; nil if it is compiled without any, and with every
    ///     trait.
    init(_ text: String, beside standIns: Set<String>?) {
        var chains: [Chain] = []
        for line in text.split(separator: "\n") {
            let words = line.trimmingPrefix { $0 == " " }
            if words.hasPrefix("#endif") {
                _ = chains.popLast()
                continue
            }
            if words.hasPrefix("#else"), !words.hasPrefix("#elseif"), let chain = chains.popLast() {
                if !chain.foreign.isEmpty, chain.isDone, !chains.contains(where: \.isForeign) {
                    let conditions = chain.foreign.joined(separator: ", ")
                    uncompiled.append("#else after \(conditions)")
                }
                chains.append(Chain(isDone: true, isActive: !chain.isDone))
            }
            let isFirst = words.hasPrefix("#if ")
            guard isFirst || words.hasPrefix("#elseif ") else { continue }
            let text = words.drop { $0 != " " }.split(separator: "//", maxSplits: 1)[0]
            let condition = String(text).trimmingCharacters(in: .whitespaces)
            let chain = isFirst ? Chain(isDone: false, isActive: true) : chains.popLast()
            var reader = Reader(condition, standIns)
            let holds = reader.disjunction() && chain?.isDone == false
            let isTaken = holds && chains.allSatisfy(\.isActive)
            let isForeign = reader.isForeign && (isFirst || chain?.foreign.isEmpty == false)
            chains.append(
                Chain(
                    isDone: holds || chain?.isDone != false,
                    isActive: holds,
                    isForeign: reader.isForeign,
                    foreign: isForeign ? (chain?.foreign ?? []) + [condition] : []
                )
            )
            guard reader.isForApple else { continue }
            if isTaken {
                self.standIns.formUnion(reader.modules.intersection(standIns ?? []))
            } else if !uncompiled.contains(condition) {
                uncompiled.append(condition)
            }
        }
    }

    /// Whether the file has no code for Apple's systems.
    var isEmpty: Bool { standIns.isEmpty && uncompiled.isEmpty }

    /// An open `#if`.
    private struct Chain {
        /// Whether one of its branches has been taken.
        var isDone: Bool
        /// Whether the branch of the current line is compiled.
        var isActive: Bool
        /// Whether that branch is for systems other than Apple's.
        var isForeign = false
        /// Its conditions if all of them are for other systems: a following `#else` is for Apple's systems.
        var foreign: [String] = []
    }

    /// An evaluator of conditions on Linux with stand-ins.
    private struct Reader {
        private var tokens: ArraySlice<String>
        private let standIns: Set<String>?
        private var isNegated = false
        /// The Apple modules in the condition.
        private(set) var modules: Set<String> = []
        /// Whether the condition requires Apple's systems.
        private(set) var isForApple = false
        private var namesOtherSystems = false
        private var namesAnythingElse = false
        /// Whether the condition only names systems other than Apple's.
        var isForeign: Bool { namesOtherSystems && !namesAnythingElse }

        /// Modules other than Apple's, which distinguish systems and packages.
        private static let others: Set = [
            "Android", "AsyncHTTPClient", "Bionic", "FoundationEssentials", "FoundationNetworking",
            "Glibc", "Musl",
        ]
        /// The modules and names of systems other than Apple's.
        private static let foreign: Set = ["Android", "Bionic", "Glibc", "Linux", "Musl"]
        private static let systems: Set = ["iOS", "macOS", "tvOS", "visionOS", "watchOS"]

        init(_ condition: String, _ standIns: Set<String>?) {
            self.standIns = standIns
            let text = condition.replacing("(", with: " ( ").replacing(")", with: " ) ")
                .replacing("!", with: " ! ")
            tokens = text.split(separator: " ").map(String.init)[...]
        }

        mutating func disjunction() -> Bool {
            var holds = conjunction()
            while tokens.first == "||" {
                tokens.removeFirst()
                let other = conjunction()
                holds = holds || other
            }
            return holds
        }

        private mutating func conjunction() -> Bool {
            var holds = negation()
            while tokens.first == "&&" {
                tokens.removeFirst()
                let other = negation()
                holds = holds && other
            }
            return holds
        }

        private mutating func negation() -> Bool {
            guard tokens.first == "!" else { return atom() }
            tokens.removeFirst()
            isNegated.toggle()
            defer { isNegated.toggle() }
            return !negation()
        }

        private mutating func atom() -> Bool {
            guard let word = tokens.popFirst() else { return false }
            if word == "(" {
                defer { tokens = tokens.dropFirst() }
                return disjunction()
            }
            guard tokens.first == "(" else {
                // A trait; the package of stand-ins has only one.
                namesAnythingElse = true
                return standIns == nil || word == "Logging"
            }
            let name = tokens.dropFirst().first ?? ""
            tokens = tokens.dropFirst(3)
            if Self.foreign.contains(name), !isNegated {
                namesOtherSystems = true
            } else {
                namesAnythingElse = true
            }
            switch word {
            case "canImport" where Self.others.contains(name):
                return name != "Musl" && (standIns == nil || name != "AsyncHTTPClient")
            case "canImport":
                modules.insert(name)
                isForApple = isForApple || !isNegated
                return standIns?.contains(name) ?? false
            case "os":
                if Self.systems.contains(name), !isNegated { isForApple = true }
                return name == "Linux"
            default: return false
            }
        }
    }
}

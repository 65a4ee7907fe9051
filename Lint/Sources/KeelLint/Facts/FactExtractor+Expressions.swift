@_spi(RawSyntax) import SwiftSyntax

extension FactExtractor {
    /// Free functions with effects outside of the program: the only lowercase names recorded.
    static let freeFunctions: NameSet = [
        "print", "debugPrint", "dump", "NSLog", "os_log", "sleep", "usleep", "nanosleep", "getenv",
        "setenv", "arc4random", "arc4random_uniform", "drand48", "rand", "random", "time", "exit",
        "SecItemAdd", "SecItemCopyMatching", "SecItemUpdate", "SecItemDelete",
        "CFAbsoluteTimeGetCurrent", "CACurrentMediaTime", "mach_absolute_time", "NSHomeDirectory",
        "NSTemporaryDirectory", "NSUserName",
    ]

    /// Functions that change what is stored.
    static let writes: NameSet = [
        "add", "append", "archive", "cache", "commit", "create", "delete", "deleteAll",
        "deleteDocument",
        "enqueue", "insert", "persist", "post", "put", "remove", "removeAll", "removeItem",
        "replace",
        "save", "saveAll", "saveContext", "set", "setDocument", "setObject", "setValue", "store",
        "update", "updateDocument", "upload", "upsert", "write",
    ]

    private static let transformations: NameSet = [
        "filter", "sorted", "sort", "reduce", "max", "min", "partition", "removeAll",
    ]

    /// Functions whose result consists of the values of their closure.
    private static let mappings: NameSet = [
        "map", "flatMap", "compactMap", "mapValues", "compactMapValues",
    ]

    // MARK: Names

    mutating func readPath(_ node: RawSyntax, call: SyntaxText?) {
        readPath(node, root: rootName(of: node), call: call)
    }

    private mutating func readPath(_ node: RawSyntax, root: SyntaxText?, call: SyntaxText?) {
        guard let root else {
            // `.member`, or a member of an expression.
            if let member = RawMemberAccessExprSyntax(node), let base = member.base?.raw {
                walk(base)
            }
            return
        }
        if Self.looksLikeType(root) {
            guard !genericNames.contains(root), root != "Self" else { return }
            // Without argument names: `f(a:)`.
            let path = Self.text(Self.trimmedText(of: node), before: UInt8(ascii: "("))
            note(path, call: call ?? SyntaxText())
        } else if call != nil, node.kind == .declReferenceExpr, Self.freeFunctions.contains(root),
            localType(of: root) == nil
        {
            note(root, call: call ?? SyntaxText())
        }
    }

    /// The first of names joined by dots; nil for other expressions.
    func rootName(of node: RawSyntax) -> SyntaxText? {
        if let name = RawDeclReferenceExprSyntax(node) {
            return name.baseName.isMissing ? nil : name.baseName.tokenText
        }
        guard let member = RawMemberAccessExprSyntax(node), let base = member.base?.raw else {
            return nil
        }
        return rootName(of: base)
    }

    // MARK: Calls

    mutating func readCall(_ node: RawSyntax) {
        guard let call = RawFunctionCallExprSyntax(node) else { return }
        let called = call.calledExpression.raw
        switch called.kind {
        case .declReferenceExpr, .memberAccessExpr:
            let root = rootName(of: called)
            let isNoted =
                root.map { Self.looksLikeType($0) || Self.freeFunctions.contains($0) } ?? false
            readPath(called, root: root, call: isNoted ? labels(of: call) : nil)
        case .genericSpecializationExpr:
            // `Cache<Note>(…)`
            guard let generic = RawGenericSpecializationExprSyntax(called) else { break }
            readPath(generic.expression.raw, call: labels(of: call))
            walk(generic.genericArgumentClause.raw)
        default: walk(called)
        }
        readMeaning(of: call, node)
        let isMapping =
            RawMemberAccessExprSyntax(called).map {
                Self.mappings.contains($0.declName.baseName.tokenText)
            }
            ?? false
        if isOwnInitializer(called) {
            within(.defaultArgument) { $0.walk(call.arguments.raw) }
        } else {
            usesClosure = isMapping && beginsWithClosure(call.arguments.raw)
            walk(call.arguments.raw)
        }
        usesClosure = isMapping
        if let closure = call.trailingClosure?.raw { walk(closure) }
        usesClosure = false
        walk(call.additionalTrailingClosures.raw)
    }

    private func beginsWithClosure(_ arguments: RawSyntax) -> Bool {
        let first = Self.parts(of: arguments).first.flatMap { RawLabeledExprSyntax($0) }
        return first?.expression.raw.kind == .closureExpr
    }

    private func isOwnInitializer(_ called: RawSyntax) -> Bool {
        guard let member = RawMemberAccessExprSyntax(called),
            member.declName.baseName.tokenText == "init",
            let base = member.base.flatMap({ RawDeclReferenceExprSyntax($0.raw) })
        else { return false }
        return base.baseName.tokenText == "self"
    }

    /// The form of a call's arguments: `(using:)`, `()`, or `(…)` for others.
    private func labels(of call: RawFunctionCallExprSyntax) -> SyntaxText {
        var isEmpty = true
        var usesGenerator = false
        guard let arguments = call.arguments.raw.layoutView?.children else { return SyntaxText() }
        for case let child? in arguments {
            isEmpty = false
            if let label = RawLabeledExprSyntax(child)?.label?.tokenText, label == "using" {
                usesGenerator = true
            }
        }
        if isEmpty { return call.trailingClosure == nil ? "()" : "(…)" }
        return usesGenerator ? "(using:)" : "(…)"
    }

    private mutating func readMeaning(of call: RawFunctionCallExprSyntax, _ node: RawSyntax) {
        guard let member = RawMemberAccessExprSyntax(call.calledExpression.raw) else { return }
        let name = member.declName.baseName.tokenText
        if Self.transformations.contains(name), call.trailingClosure != nil {
            add(.transformation, string(name), "", member.declName.raw)
        }
        let isWrite = Self.writes.contains(name)
        guard isWrite || name == "collection", let receiver = member.base?.raw,
            let arguments = call.arguments.raw.layoutView?.children
        else { return }
        for case let child? in arguments {
            guard let argument = RawLabeledExprSyntax(child)?.expression.raw,
                let type = isWrite ? typeOfValue(argument) : typeOfMetatype(argument)
            else { continue }
            let text = shortened(Self.trimmedText(of: receiver))
            add(.handedOver, "\(text).\(string(name))", string(type), argument)
        }
    }

    /// The declared type of a variable, or the type of `X(…)`.
    private func typeOfValue(_ node: RawSyntax) -> SyntaxText? {
        if let name = RawDeclReferenceExprSyntax(node)?.baseName.tokenText {
            return localType(of: name).flatMap { $0.isEmpty ? nil : $0 }
        }
        guard let call = RawFunctionCallExprSyntax(node),
            let name = RawDeclReferenceExprSyntax(call.calledExpression.raw)?.baseName.tokenText,
            Self.looksLikeType(name)
        else { return nil }
        return name
    }

    private func typeOfMetatype(_ node: RawSyntax) -> SyntaxText? {
        guard let member = RawMemberAccessExprSyntax(node),
            member.declName.baseName.tokenText == "self",
            let name = member.base.flatMap({ RawDeclReferenceExprSyntax($0.raw) })
        else { return nil }
        return name.baseName.tokenText
    }

    // MARK: Errors and missing values

    mutating func readTry(_ node: RawSyntax) {
        guard let attempt = RawTryExprSyntax(node) else { return }
        let isDropped = dropsValue
        dropsValue = false
        switch attempt.questionOrExclamationMark?.tokenText {
        case "?":
            if isDropped, let name = nameOfCalled(in: attempt.expression.raw) {
                add(.droppedTry, name, "", node)
            }
        case nil where catchDepth == 0 && declaration >= 0:
            add(.uncaughtTry, nameOfCalled(in: attempt.expression.raw) ?? "", "", node)
        default: break
        }
        let catches = catchDepth
        if attempt.questionOrExclamationMark != nil { catchDepth += 1 }
        walk(attempt.expression.raw)
        catchDepth = catches
    }

    /// The function of the first outermost call: `store.save` of `await store.save(x)`.
    private mutating func nameOfCalled(in node: RawSyntax) -> String? {
        switch node.kind {
        case .awaitExpr, .tryExpr, .sequenceExpr, .exprList:
            guard let children = node.layoutView?.children else { return nil }
            for case let child? in children {
                if let name = nameOfCalled(in: child) { return name }
            }
            return nil
        case .functionCallExpr:
            guard let called = RawFunctionCallExprSyntax(node)?.calledExpression.raw else {
                return nil
            }
            if let member = RawMemberAccessExprSyntax(called) {
                let name = string(member.declName.baseName.tokenText)
                guard let base = member.base?.raw else { return name }
                return DeclarationFact.qualified(name, in: shortened(Self.trimmedText(of: base)))
            }
            return RawDeclReferenceExprSyntax(called).map { string($0.baseName.tokenText) }
        default: return nil
        }
    }

    mutating func readDo(_ node: RawSyntax) {
        guard let statement = RawDoStmtSyntax(node) else { return }
        let catches = statement.catchClauses.raw.layoutView?.children.isEmpty == false
        if catches { catchDepth += 1 }
        if let clause = statement.throwsClause?.raw { walk(clause) }
        walk(statement.body.raw)
        if catches { catchDepth -= 1 }
        walk(statement.catchClauses.raw)
    }

    mutating func readSequence(_ view: RawSyntaxLayoutView) {
        for case let list? in view.children {
            var wasCoalescing = false
            guard let elements = list.layoutView?.children else { continue }
            for case let element? in elements {
                if wasCoalescing, let fresh = freshValue(element) {
                    add(.freshDefault, fresh, "", element)
                }
                wasCoalescing =
                    element.kind == .binaryOperatorExpr && Self.trimmedText(of: element) == "??"
                walk(element)
            }
        }
    }

    /// The text of a value that differs each time, such as `UUID()`.
    private mutating func freshValue(_ node: RawSyntax) -> String? {
        if let member = RawMemberAccessExprSyntax(node) {
            let name = member.declName.baseName.tokenText
            guard let base = member.base?.raw else { return name == "now" ? ".now" : nil }
            if name == "now", let root = rootName(of: base), Self.looksLikeType(root) {
                return string(Self.trimmedText(of: node))
            }
            return freshValue(base).map { _ in string(Self.trimmedText(of: node)) }
        }
        guard let call = RawFunctionCallExprSyntax(node) else { return nil }
        let called = Self.trimmedText(of: call.calledExpression.raw)
        let isFresh: Bool =
            switch called {
            case "UUID", "UUID.init", "Foundation.UUID", "Date", "Date.init", "Foundation.Date",
                "NSUUID",
                "NSDate":
                labels(of: call) == "()"
            default:
                RawMemberAccessExprSyntax(call.calledExpression.raw)?.declName.baseName.tokenText
                    == "random" && labels(of: call) != "(using:)"
            }
        if isFresh { return string(Self.trimmedText(of: node)) }
        guard let base = RawMemberAccessExprSyntax(call.calledExpression.raw)?.base?.raw else {
            return nil
        }
        return freshValue(base).map { _ in string(Self.trimmedText(of: node)) }
    }
}

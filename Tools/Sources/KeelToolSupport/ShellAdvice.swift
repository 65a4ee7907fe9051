package import KeelCore

/// Advice about Keel's errors for users of the command line.
///
/// It replaces an error's own advice if that is for programmers, because it names functions of Swift.
package enum ShellAdvice {
    package static func text<Code: KeelErrorCode>(for code: Code) -> String {
        // The code's type is in that of its error, such as StorageError.Code.
        let area = String(reflecting: Code.self).split(separator: ".").dropLast().last ?? ""
        return byArea[String(area)]?[code.name] ?? common[code.name] ?? code.advice
    }

    /// The advice for codes that mean the same in every area.
    private static let common = [
        "cancelled": "Nothing to do; run it again if you did not mean to end it.",
        "encodingFailed": "Change the value as the message says.",
        "fileFailed": "Check the folder and the disk; the stored data is intact.",
        "invalidArgument": "Change what the message names, and run it again.",
        "unknown": "Report the message: keel does not know this failure.",
    ]

    private static let byArea = [
        "StorageError": storage, "FileStoreError": files, "SecretError": secrets,
        "SecurityError": security, "JournalError": journal, "AnalyticsError": analytics,
        "LoggingError": logging, "CacheError": cache, "TransportError": transport,
        "NetworkError": network, "AuthenticationError": authentication,
    ]

    private static let storage = [
        "documentNotFound": "Check the path: keel documents query COLLECTION lists the documents.",
        "alreadyExists": "Choose another id.",
        "unsupported": "Use a store of another kind, or leave out the option that asks for it.",
        "indexRequired": "Create the index that the message names: keel documents indexes import.",
        "decodingFailed": "Look at the document: keel documents get shows it as it is.",
        "unauthenticated": "Give credentials that the store accepts, a server’s in KEEL_TOKEN.",
        "closed": "Run it again; all committed data is intact.",
        "corrupted": "Restore a backup, or save what is readable with keel documents export.",
        "schemaTooNew": "Update keel: this version would damage the store.",
        "cursorExpired": "Run it again from the beginning.",
        "snapshotTooOld": "Name a later time; keel serve --history keeps more from now on.",
        "databaseNotFound": "Check the name of the project, or create its database.",
    ]

    private static let files = [
        "fileNotFound": "Check the name: keel files list lists the files.",
        "conditionFailed": "It was changed meanwhile: run it again.",
        "tooLarge": "Send it in larger parts with --part-size, or split it.",
        "rangeNotSatisfiable": "It was changed meanwhile: run it again.",
        "invalidPath": "Correct the name as the message says.",
        "unsupported": "Check --provider and --endpoint: the server cannot do it.",
        "contentConsumed": "Run it again: standard input can be read once only.",
        "sourceFailed": "Check that the source can be read; the target is unchanged.",
        "readFailed": "Check that the file can be read, and the disk.",
        "writeFailed": "Check that the folder can be written to; its files are unchanged.",
        "unavailable": "Try again later; after a change, see with keel files stat if it happened.",
        "credentialsMissing":
            "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or add --aws-profile.",
        "wrongRegion": "Add --region with the region that the message names.",
    ]

    private static let secrets = [
        "saveFailed": "Check the store: it has the old secret or the new one, complete.",
        "loadFailed": "Check that the store can be read, and that no other program locks it.",
        "deleteFailed": "Run it again: the secret may still be there.",
        "keyNotFound": "Check the key: keel secrets list lists the keys.",
        "invalidData": "Store the secret again: keel secrets set.",
        "tooLarge": "Keep it in an encrypted file: keel encrypt.",
        "readOnly": "Add --store platform or --store file:FOLDER.",
        "locked": "Unlock the store, for example by logging in, and run it again.",
        "noBus": "Run it in a session, which dbus-run-session starts, or add --store file:FOLDER.",
        "noCollection": "Create a default keyring, or add --store file:FOLDER.",
        "missingLibrary": "Install libsecret (Debian: libsecret-1-0), or add --store file:FOLDER.",
        "noStore": "Unlock the Secret Service, or add --store file:FOLDER and its key.",
        "missingKey": "Put the key where the message says.",
        "wrongKey": "Give the key that the store was created with.",
        "unsupportedFormat": "Update keel; the file is unchanged.",
        "unavailable": "Try again: the service that keeps the secrets did not answer.",
    ]

    private static let security = [
        "keyNotFound": "Give a keyset with an enabled primary key; keel keyset list shows it.",
        "encryptionFailed": "Check the key; nothing was written.",
        "decryptionFailed":
            "Check the key or passphrase, and that --context and --keyset-context are the same.",
        "unsupportedKey": "Give a key of another kind, as the help of the command lists them.",
        "invalidHash": "Give the whole text, unchanged.",
        "usageLimitReached": "Run keel keyset rotate.",
        "keyStoreFailed": "Check that the file of the key is there, and that you may read it.",
        "streamFailed": "Run it again from the beginning.",
    ]

    private static let journal = [
        "consumerInUse": "End the program that reads the journal, or wait for its end.",
        "sealingFailed": "Add --keyset and its key: those that the journal was written with.",
    ]

    private static let analytics = [
        "inUse": "End the app, or wait for its end.",
        "denied": "Nothing to do: the user has not consented.",
        "tooLarge": "Shorten the event’s properties.",
        "full": "Deliver the pending events: keel analytics flush.",
    ]

    private static let logging = [
        "journalFailed": "Check the folder; for an encrypted journal, add --keyset and its key."
    ]

    private static let cache = [
        "folderInUse": "Give each proxy a --folder of its own.",
        "decodingFailed": "Delete the folder, which is only a cache.",
        "sealingFailed": "Delete the folder, which is only a cache.",
        "notCached": "Run it again when the origin can be reached.",
        "unavailable": "Run it again.",
    ]

    private static let transport = [
        "invalidRequest": "Check the address.",
        "invalidConfiguration": "Check the addresses, and the files of certificates and keys.",
        "hostNotFound": "Check the spelling of the host.",
        "poolTimeout": "Try again, with less at a time.",
        "tlsHostnameMismatch": "Check the host; someone may be answering in its place.",
        "tlsClientCertificate":
            "Give a certificate that the server accepts; its operator knows which.",
        "proxyUnauthorized": "Give a user name and a password that the proxy accepts.",
        "circuitOpen": "Try again after a while.",
        "throttled": "Try again, with less at a time.",
        "clientShutdown": "Run it again.",
        "deadlineExceeded": "Try again; large and slow transfers need a better network.",
        "tooSlow": "Try again on a better network.",
        "bodyProducerFailed": "Check that the file that is sent can be read.",
        "bodyNotReplayable": "Run it again: standard input can be read once only.",
        "credentialsUnavailable": "Renew the credentials, a server’s in KEEL_TOKEN.",
    ]

    private static let network = [
        "invalidURL": "Check the address.",
        "invalidResponse": "Check the address; a captive portal may have answered.",
        "encoding": "Change the value as the message says.",
        "noData": "Check the address: the reply is empty.",
        "decoding": "Check the address, and the versions of both sides.",
        "file": "Check the file’s path, its permissions and the free space.",
        "transport": "Check the network connection and the address.",
    ]

    private static let authentication = [
        "signedOut": "Sign in, and run it again.",
        "refreshFailed": "Try again later: the identity server did not answer.",
        "storeFailed": "Check that the place of the credentials can be written to.",
        "cleanUpIncomplete": "Run it again.",
        "signInFailed": "Try again later: the identity server did not answer.",
        "userUnknown": "Sign in with an account that has a name, and run it again.",
    ]
}

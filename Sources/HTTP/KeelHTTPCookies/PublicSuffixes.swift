/// The domains below which names belong to different owners, as far as known without the whole public suffix list
/// (https://publicsuffix.org), which has 10,000 rows and changes weekly.
enum PublicSuffixes {
    static func contains(_ domain: String) -> Bool {
        // A trailing dot does not make a different domain.
        let name = domain.hasSuffix(".") ? domain.dropLast() : domain[...]
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count > 1 else { return true }
        if shared.contains(String(name)) { return true }
        guard labels.count == 2, labels[1].utf8.count == 2 else { return false }
        let label = String(labels[0])
        return registries.contains(label)
            || registriesOfCountry[String(labels[1])]?.contains(label) == true
    }

    /// The labels under which the registries of nearly all countries assign names.
    private static let registries: Set<String> = [
        "ac", "co", "com", "edu", "gov", "mil", "net", "org",
    ]

    private static let registriesOfCountry: [String: Set<String>] = [
        "ar": ["gob", "int", "tur"],
        "at": ["gv", "or"],
        "au": ["asn", "id"],
        "br": ["adv", "art", "blog", "eco", "emp", "eng", "ind", "inf", "jor", "med", "nom", "tv"],
        "es": ["gob", "nom"],
        "fr": ["asso", "gouv", "nom", "prd", "tm"],
        "id": ["biz", "desa", "go", "my", "or", "sch", "web"],
        "il": ["idf", "k12", "muni"],
        "in": ["firm", "gen", "ind", "nic", "res"],
        "jp": ["ad", "ed", "go", "gr", "lg", "ne", "or"],
        "kr": ["es", "go", "hs", "kg", "ms", "ne", "or", "pe", "re", "sc"],
        "mx": ["gob"],
        "nz": ["cri", "geek", "gen", "govt", "health", "iwi", "kiwi", "maori", "school"],
        "pl": ["biz", "info"],
        "pt": ["int", "nome", "publ"],
        "th": ["go", "in", "mi", "or"],
        "tr": ["av", "bel", "biz", "dr", "gen", "info", "k12", "name", "pol", "tel", "tv", "web"],
        "tw": ["club", "ebiz", "game", "idv"],
        "ua": ["in", "kiev", "kyiv", "lviv"],
        "uk": ["ltd", "me", "nhs", "plc", "police", "sch"],
        "za": ["law", "nom", "school", "web"],
    ]

    /// The domains of services that give subdomains to their customers.
    private static let shared: Set<String> = [
        "amplifyapp.com", "appspot.com", "azurestaticapps.net", "azurewebsites.net",
        "blogspot.com", "cloudapp.net", "cloudfront.net", "cloudfunctions.net", "duckdns.org",
        "firebaseapp.com", "fly.dev", "github.io", "gitlab.io", "glitch.me", "herokuapp.com",
        "myshopify.com", "netlify.app", "ngrok-free.app", "ngrok.io", "now.sh", "onrender.com",
        "pages.dev", "r2.dev", "repl.co", "run.app", "s3.amazonaws.com", "supabase.co",
        "surge.sh", "trycloudflare.com", "vercel.app", "web.app", "workers.dev",
    ]
}

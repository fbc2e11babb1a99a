"""What TeX's commands look like: tables only, for `fit.math`. A command that is not here keeps its name."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _pairs(table: str) -> dict[str, str]:
    words = table.split()
    return dict(zip(words[::2], words[1::2], strict=True))


SYMBOLS = _pairs(
    """
    alpha α beta β gamma γ delta δ epsilon ϵ varepsilon ε zeta ζ eta η theta θ vartheta ϑ iota ι kappa κ varkappa ϰ
    lambda λ mu μ nu ν xi ξ omicron ο pi π varpi ϖ rho ρ varrho ϱ sigma σ varsigma ς tau τ upsilon υ phi ϕ varphi φ
    chi χ psi ψ omega ω digamma ϝ
    Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω
    sum ∑ prod ∏ coprod ∐ int ∫ iint ∬ iiint ∭ oint ∮ bigcup ⋃ bigcap ⋂ bigoplus ⨁ bigotimes ⨂ bigvee ⋁ bigwedge ⋀
    pm ± mp ∓ times × div ÷ cdot · ast ∗ star ⋆ circ ∘ bullet • oplus ⊕ ominus ⊖ otimes ⊗ oslash ⊘ odot ⊙ dagger †
    ddagger ‡ wedge ∧ land ∧ vee ∨ lor ∨ cap ∩ cup ∪ uplus ⊎ sqcap ⊓ sqcup ⊔ setminus ∖ smallsetminus ∖ backslash ∖
    wr ≀ amalg ⨿ diamond ⋄ triangle △ triangleleft ◁ triangleright ▷ bigtriangleup △ bigtriangledown ▽ square □ Box □
    blacksquare ■ lozenge ◊ neg ¬ lnot ¬ prime ′
    leq ≤ le ≤ geq ≥ ge ≥ leqslant ⩽ geqslant ⩾ neq ≠ ne ≠ ll ≪ gg ≫ equiv ≡ approx ≈ approxeq ≊ cong ≅ sim ∼ simeq ≃
    propto ∝ asymp ≍ doteq ≐ prec ≺ succ ≻ preceq ⪯ succeq ⪰ lesssim ≲ gtrsim ≳ triangleq ≜ coloneqq ≔ coloneq ≔
    in ∈ notin ∉ ni ∋ subset ⊂ supset ⊃ subseteq ⊆ supseteq ⊇ subsetneq ⊊ supsetneq ⊋ sqsubseteq ⊑ sqsupseteq ⊒
    emptyset ∅ varnothing ∅ forall ∀ exists ∃ nexists ∄ vdash ⊢ dashv ⊣ models ⊨ vDash ⊨ top ⊤ bot ⊥ perp ⊥ mid ∣
    nmid ∤ parallel ∥ nparallel ∦ angle ∠ measuredangle ∡ therefore ∴ because ∵ bowtie ⋈
    to → rightarrow → leftarrow ← gets ← leftrightarrow ↔ Rightarrow ⇒ Leftarrow ⇐ Leftrightarrow ⇔ implies ⟹
    impliedby ⟸ iff ⟺ longrightarrow ⟶ longleftarrow ⟵ longleftrightarrow ⟷ Longrightarrow ⟹ Longleftarrow ⟸
    Longleftrightarrow ⟺ mapsto ↦ longmapsto ⟼ uparrow ↑ downarrow ↓ updownarrow ↕ Uparrow ⇑ Downarrow ⇓ nearrow ↗
    searrow ↘ swarrow ↙ nwarrow ↖ hookrightarrow ↪ hookleftarrow ↩ rightharpoonup ⇀ leftharpoonup ↼
    rightleftharpoons ⇌ rightsquigarrow ⇝ leadsto ⇝ upharpoonright ↾ restriction ↾
    partial ∂ nabla ∇ infty ∞ hbar ℏ ell ℓ Re ℜ Im ℑ wp ℘ aleph ℵ beth ℶ imath ı jmath ȷ degree ° surd √ complement ∁
    ldots … dots … cdots ⋯ dotsc … dotsb ⋯ vdots ⋮ ddots ⋱ langle ⟨ rangle ⟩ lceil ⌈ rceil ⌉ lfloor ⌊ rfloor ⌋
    lbrace { rbrace } lbrack [ rbrack ] lvert | rvert | vert | lVert ‖ rVert ‖ Vert ‖ colon : checkmark ✓
    sharp ♯ flat ♭ natural ♮ spadesuit ♠ heartsuit ♥ diamondsuit ♦ clubsuit ♣ S § P ¶ pounds £ copyright ©
    textasciicircum ˆ textbackslash ∖ textunderscore ˍ textasciitilde ∼ AA Å aa å ae æ AE Æ o ø O Ø ss ß L Ł l ł
    """
)

ESCAPED = {
    "{": "{", "}": "}", "$": "$", "%": "%", "#": "#", "&": "&", "|": "‖", "_": "ˍ",
    ",": " ", ";": " ", ":": " ", ">": " ", " ": " ", "\n": " ",
    "!": "", "/": "", "-": "", "(": "", ")": "", "[": "", "]": "",
}  # fmt: skip
"""A backslash and one character. An escaped underscore becomes one that a second pass does not take for an index."""

SPACES = {"quad": "  ", "qquad": "    ", "thinspace": " ", "enspace": " ", "space": " ", "hfill": " "}

SILENT = _words(
    """
    left right middle big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr bigm Bigm limits nolimits
    displaystyle textstyle scriptstyle scriptscriptstyle mathstrut strut nonumber notag negthinspace centering rm bf it
    cal sf tt
    """
)
"""Commands about size and place, which say nothing."""

FONTS = _words(
    """
    text textrm textbf textit textsf texttt textnormal mathrm mathbf mathit mathsf mathtt mathnormal boldsymbol bm
    operatorname mathop mathbin mathrel mathord mbox hbox mathcal mathfrak mathscr emph underline underbrace overbrace
    mathclose mathopen mathinner phantom ensuremath smash
    """
)
"""Commands whose argument is read as it is."""

FRACTIONS = frozenset({"frac", "dfrac", "tfrac", "cfrac", "sfrac", "nicefrac"})
BINOMIALS = frozenset({"binom", "dbinom", "tbinom"})

DOUBLE_STRUCK = dict(zip("CHNPQRZ", "ℂℍℕℙℚℝℤ", strict=True))

ACCENTS = {
    "hat": "\u0302", "widehat": "\u0302", "bar": "\u0304", "overline": "\u0305", "vec": "\u20d7",
    "overrightarrow": "\u20d7", "tilde": "\u0303", "widetilde": "\u0303", "dot": "\u0307", "ddot": "\u0308",
    "check": "\u030c", "breve": "\u0306", "acute": "\u0301", "grave": "\u0300", "mathring": "\u030a",
}  # fmt: skip

NEGATED = {"=": "≠", "∈": "∉", "⊂": "⊄", "⊆": "⊈", "<": "≮", ">": "≯", "≤": "≰", "≥": "≱", "≡": "≢", "∼": "≁", "∃": "∄"}

RAISED = dict(
    zip(
        "0123456789+-=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVWαβγδεθφχ′∘",
        "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂᵅᵝᵞᵟᵋᶿᵠᵡ′°",
        strict=True,
    )
)
LOWERED = dict(
    zip(
        "0123456789+-=()aehijklmnoprstuvxβγρφχ",
        "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ",
        strict=True,
    )
)
